import FoundationEssentials

/// The parts of a PEM text (RFC 7468, section 2).
enum PEM {
  struct Block {
    /// The label between BEGIN and the dashes: `PRIVATE KEY`.
    let label: String
    /// The part, including its first and last line.
    let text: String

    /// The decoded content between these lines, or `nil` if it is not Base64.
    var bytes: Data? { Data(base64Encoded: text.split(separator: "\n").dropFirst().dropLast().joined()) }
  }

  /// Every part that begins and ends with the same label; other lines are ignored.
  static func blocks(in text: String) -> [Block] {
    var blocks: [Block] = []
    var label: String?
    var lines: [Substring] = []
    for line in text.split(whereSeparator: \.isNewline) {
      if let begun = name(in: line, after: "-----BEGIN ") {
        label = begun
        lines = [line]
      } else if let open = label {
        lines.append(line)
        if name(in: line, after: "-----END ") == open {
          blocks.append(Block(label: open, text: lines.joined(separator: "\n") + "\n"))
          label = nil
        }
      }
    }
    return blocks
  }

  private static func name(in line: Substring, after prefix: String) -> String? {
    guard line.hasPrefix(prefix) else { return nil }
    let rest = String(line.dropFirst(prefix.count).reversed().drop(while: \.isWhitespace).reversed())
    return rest.hasSuffix("-----") ? String(rest.dropLast(5)) : nil
  }
}

import FoundationEssentials

/// Splits PEM text into its blocks (RFC 7468, section 2).
enum PEM {
  struct Block {
    /// The label, such as `PRIVATE KEY`.
    let label: String
    /// The block, including its first and last lines.
    let text: String

    /// The decoded content, or `nil` if it is not Base64.
    var bytes: Data? { Data(base64Encoded: text.split(separator: "\n").dropFirst().dropLast().joined()) }
  }

  /// Returns all blocks whose first and last lines have the same label. Ignores other lines.
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

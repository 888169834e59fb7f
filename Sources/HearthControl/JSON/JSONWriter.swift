import HearthCore

extension JSON: CustomStringConvertible {
  /// The value as JSON on one line, without white space.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  package var description: String { String(decoding: bytes, as: UTF8.self) }

  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let text): bytes.append(contentsOf: text.utf8)
    case .string(let text): JSON.write(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSON.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Writes a quoted string. Escapes the characters that JSON requires (RFC 8259, section 7) and characters that could
  /// confuse a terminal. A parser gets the original string back.
  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      var clean = 0
      var index = 0
      while index < utf8.count {
        let byte = utf8[index]
        guard byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C else {
          index += 1
          continue
        }
        let (scalar, length) = scalar(in: utf8, at: index)
        if byte < 0x80 || !scalar.isPlain {
          bytes.append(contentsOf: utf8[clean..<index])
          bytes.append(contentsOf: escape(scalar).utf8)
          clean = index + length
        }
        index += length
      }
      bytes.append(contentsOf: utf8[clean...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns the scalar at `index` of valid UTF-8 and its length in bytes.
  private static func scalar(
    in utf8: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> (scalar: Unicode.Scalar, length: Int) {
    let first = utf8[index]
    guard first >= 0x80 else { return (Unicode.Scalar(first), 1) }
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    let value = utf8[(index + 1)..<(index + length)].reduce(UInt32(first) & (0x7F >> UInt32(length))) {
      $0 << 6 | UInt32($1 & 0x3F)
    }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
  }

  /// Escapes a scalar. Scalars beyond U+FFFF become surrogate pairs.
  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\u{8}": "\\b"
    case "\u{C}": "\\f"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default:
      scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}

import HearthCore

/// Encodes and decodes `application/x-www-form-urlencoded` (RFC 6749, appendix B).
enum FormBody {
  static func encode(_ fields: [(String, String)]) -> [UInt8] {
    Array(fields.map { encode($0) + "=" + encode($1) }.joined(separator: "&").utf8)
  }

  static func encode(_ text: String) -> String {
    let hexadecimal = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      if byte.isASCIILetter || byte.isASCIIDigit || "*-._".utf8.contains(byte) {
        result.append(byte)
      } else if byte == UInt8(ascii: " ") {
        result.append(UInt8(ascii: "+"))
      } else {
        result += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the fields of a form as stream-safe strings, or `nil` if the bytes are not a form.
  static func decode(_ bytes: [UInt8]) -> [(String, String)]? {
    var fields: [(String, String)] = []
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { percentDecoded($0.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }) }
      guard parts.count == 2, let name = parts[0], let value = parts[1] else { return nil }
      fields.append((name.streamSafe, value.streamSafe))
    }
    return fields.isEmpty ? nil : fields
  }

  /// Decodes percent-encoding (RFC 3986, section 2.1). Returns `nil` if a percent sign is not followed by two hex
  /// digits or if the result is not UTF-8.
  static func percentDecoded(_ text: some Sequence<UInt8>) -> String? {
    var result: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == 2 else { return nil }
      result.append(UInt8(digits[0] << 4 | digits[1]))
      rest = rest.dropFirst(2)
    }
    return String(validating: result, as: UTF8.self)
  }
}

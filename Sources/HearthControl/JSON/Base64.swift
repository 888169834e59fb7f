/// Padded Base64 (RFC 4648, section 4). Decoding is strict: white space and nonzero padding bits are errors.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  // Long bodies pass through `encode` and `decode`, so both use plain loops over memory, which are fast even in debug
  // builds.

  package static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = alphabet
    let length = (bytes.count + 2) / 3 * 4
    return String(unsafeUninitializedCapacity: length) { text in
      var (start, end) = (0, 0)
      while start < bytes.count {
        let left = bytes.count - start
        var group = UInt32(bytes[start]) &<< 16
        if left > 1 { group |= UInt32(bytes[start + 1]) &<< 8 }
        if left > 2 { group |= UInt32(bytes[start + 2]) }
        text[end] = alphabet[Int(group &>> 18)]
        text[end + 1] = alphabet[Int(group &>> 12 & 63)]
        text[end + 2] = left > 1 ? alphabet[Int(group &>> 6 & 63)] : 0x3D
        text[end + 3] = left > 2 ? alphabet[Int(group & 63)] : 0x3D
        start += 3
        end += 4
      }
      return length
    }
  }

  /// Decodes the text, or returns `nil` if it is not valid Base64.
  package static func decode(_ text: String) -> [UInt8]? {
    let values = values
    var text = text
    return text.withUTF8 { digits in
      guard digits.count % 4 == 0 else { return nil }
      var count = digits.count
      while count > 0, digits.count - count < 2, digits[count - 1] == UInt8(ascii: "=") { count -= 1 }
      var group: UInt32 = 0
      var bits = 0
      var index = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3) { bytes, end in
        while index < count {
          let value = values[Int(digits[index])]
          guard value != 0xFF else { return }
          group = (group &<< 6 | UInt32(value)) & 0xFFFF
          bits += 6
          if bits >= 8 {
            bits -= 8
            bytes[end] = UInt8(truncatingIfNeeded: group &>> UInt32(bits))
            end += 1
          }
          index += 1
        }
      }
      guard index == count, group & ((1 &<< UInt32(bits)) &- 1) == 0 else { return nil }
      return bytes
    }
  }
}

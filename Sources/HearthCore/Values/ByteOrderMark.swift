/// Detects and removes the byte order mark that some editors write at the start of a text file.
package enum ByteOrderMark {
  private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text without a UTF-8 byte order mark.
  package static func removed(from bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: utf8) ? Array(bytes.dropFirst(utf8.count)) : bytes
  }

  /// Returns whether the text starts with a UTF-16 byte order mark. Hearth cannot read UTF-16.
  package static func saysUTF16(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
  }
}

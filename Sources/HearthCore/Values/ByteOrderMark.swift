/// What editors of other systems write at the beginning of a text file.
package enum ByteOrderMark {
  private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text without the mark of UTF-8, which means nothing.
  package static func removed(from bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: utf8) ? Array(bytes.dropFirst(utf8.count)) : bytes
  }

  /// Whether the mark says that the text is UTF-16, which nothing here can read.
  package static func saysUTF16(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
  }
}

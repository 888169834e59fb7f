import Glibc

/// Splits a byte stream into lines. Wipes its copy of each returned line, because lines may contain tokens.
package struct LineFramer: Sendable {
  /// A line exceeds the limit. The rest of the stream cannot be read.
  package struct LineTooLong: Error, Hashable, Sendable {}

  /// The maximum length of a line in bytes, without its newline.
  package var limit: Int
  private var buffer: [UInt8] = []
  /// The position of the next line in `buffer`.
  private var start = 0
  /// The position in `buffer` at which to continue searching for a newline.
  private var scanned = 0

  package init(limit: Int) { self.limit = limit }

  /// Whether the buffer ends with an incomplete line. Valid only after `next` has returned `nil`.
  package var isInsideLine: Bool { start < buffer.count }

  package mutating func push(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      // Copy the bytes, because moving them to the front would leave secrets at the end of the buffer.
      buffer = Array(buffer[start...])
      scanned -= start
      start = 0
    }
    // Copies memory if possible, because a generic sequence is appended byte by byte.
    if bytes.withContiguousStorageIfAvailable({ buffer.append(contentsOf: $0) }) == nil {
      buffer.append(contentsOf: bytes)
    }
  }

  /// Returns the next complete line without its newline, or `nil` if more bytes are needed.
  package mutating func next() throws -> [UInt8]? {
    let newline = buffer.withUnsafeBytes { memory -> Int? in
      guard let start = memory.baseAddress, let found = memchr(start + scanned, 0x0A, memory.count - scanned) else {
        return nil
      }
      return UnsafeRawPointer(found) - start
    }
    guard let end = newline else {
      scanned = buffer.count
      guard buffer.count - start <= limit else { throw LineTooLong() }
      return nil
    }
    guard end - start <= limit else { throw LineTooLong() }
    let line = Array(buffer[start..<end])
    buffer.withUnsafeMutableBufferPointer { $0[start..<end].update(repeating: 0) }
    start = end + 1
    scanned = start
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 16)
      start = 0
      scanned = 0
    }
    return line
  }
}

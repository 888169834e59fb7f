import Glibc

/// Splits a stream of bytes into lines at `\n`. Overwrites returned lines, because they may contain tokens.
package struct LineFramer: Sendable {
  /// A line is longer than the limit. Nothing more can be read from the stream.
  package struct LineTooLong: Error, Hashable, Sendable {}

  /// The maximum length in bytes, without the newline.
  package var limit: Int
  private var buffer: [UInt8] = []
  /// The start of the first line that has not been returned yet.
  private var start = 0
  /// The position up to which no newline was found.
  private var scanned = 0

  package init(limit: Int) { self.limit = limit }

  /// Whether a line has begun and not ended. Only valid after `next` has returned all whole lines.
  package var isInsideLine: Bool { start < buffer.count }

  package mutating func push(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      // Copied instead of moved to the front, which would leave old bytes at the end.
      buffer = Array(buffer[start...])
      scanned -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next complete line without its newline, or `nil` if more bytes are needed.
  package mutating func next() throws(LineTooLong) -> [UInt8]? {
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

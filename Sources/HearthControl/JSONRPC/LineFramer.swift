/// Cuts a stream of bytes into lines at `\n`. It keeps nothing of a line that it has given out: there may be a token in it.
package struct LineFramer: Sendable {
  /// A line is longer than the limit; nothing more can be read from this stream.
  package struct LineTooLong: Error, Hashable, Sendable {}

  /// In bytes, without the line's end.
  package var limit: Int
  private var buffer: [UInt8] = []
  /// Where the first line that is not given out yet begins.
  private var start = 0
  /// Up to where no line end was found.
  private var scanned = 0

  package init(limit: Int) {
    self.limit = limit
  }

  /// A line has begun and not ended. Asked for when `next` has given out all whole lines.
  package var isInsideLine: Bool { start < buffer.count }

  package mutating func push(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      // Not moved to the front, which would leave what stood at the end.
      buffer = Array(buffer[start...])
      scanned -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole line, without its end; nil when more bytes are needed.
  package mutating func next() throws(LineTooLong) -> [UInt8]? {
    guard let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
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

/// The answers and events of a connection that its client has not read, in bytes.
struct OutputBacklog {
  /// Bytes written to the channel that the socket has not accepted yet.
  private(set) var written = 0
  /// How many of these bytes were not offered to the socket yet.
  private(set) var unflushed = 0
  /// Answers to arrays that are not complete yet.
  var collected = 0

  var all: Int { written + collected }

  /// What the client is to blame for: bytes that were not offered to the socket are not late.
  var late: Int { all - unflushed }

  mutating func wrote(_ count: Int) {
    written += count
    unflushed += count
  }

  mutating func flushed() { unflushed = 0 }

  /// Called when the socket has accepted the bytes, or the channel was closed, which also drops what was not flushed.
  mutating func left(_ count: Int) {
    written -= count
    unflushed = min(unflushed, written)
  }
}

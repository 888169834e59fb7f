/// The responses and events that a connection's client has not read, in bytes.
struct OutputBacklog {
  /// Bytes written to the channel that the socket has not accepted yet.
  private(set) var written = 0
  /// The part of `written` that has not been offered to the socket yet.
  private(set) var unflushed = 0
  /// Responses to batches that are not complete yet.
  var collected = 0

  var all: Int { written + collected }

  /// The bytes that count against the client: all except those not yet offered to the socket.
  var late: Int { all - unflushed }

  mutating func wrote(_ count: Int) {
    written += count
    unflushed += count
  }

  mutating func flushed() { unflushed = 0 }

  /// Called once the socket has accepted the bytes, or once the channel was closed, which also drops unflushed bytes.
  mutating func left(_ count: Int) {
    written -= count
    unflushed = min(unflushed, written)
  }
}

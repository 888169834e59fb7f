/// What a connection holds of answers and events that its client has not read, in bytes.
struct OutputBacklog {
  /// Written to the channel, and not accepted by the socket yet.
  private(set) var written = 0
  /// How many of these bytes the socket was not offered yet.
  private(set) var unflushed = 0
  /// Answers to arrays that are not complete yet.
  var collected = 0

  var all: Int { written + collected }

  /// What the client is to blame for: what the socket was not offered is not late.
  var late: Int { all - unflushed }

  mutating func wrote(_ count: Int) {
    written += count
    unflushed += count
  }

  mutating func flushed() { unflushed = 0 }

  /// The socket has accepted it, or the channel was closed, which drops also what was not flushed.
  mutating func left(_ count: Int) {
    written -= count
    unflushed = min(unflushed, written)
  }
}

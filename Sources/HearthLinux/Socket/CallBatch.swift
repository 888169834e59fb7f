/// The calls of one JSON-RPC batch, which are answered together. Used only on the event loop.
final class CallBatch: @unchecked Sendable {
  /// The responses without their line breaks, or `nil` for calls that have no response yet or never get one.
  var responses: [[UInt8]?]
  var unfinished: Int
  var starts: [@Sendable () -> Void] = []

  init(count: Int) {
    responses = Array(repeating: nil, count: count)
    unfinished = count
  }

  func drop() { responses = Array(repeating: nil, count: responses.count) }
}

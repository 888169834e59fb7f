/// The calls of one array, which are answered together. Used only on the event loop.
final class CallBatch: @unchecked Sendable {
  /// The responses, each without its line break.
  var responses: [[UInt8]?]
  var unfinished: Int
  var starts: [@Sendable () -> Void] = []

  init(count: Int) {
    responses = Array(repeating: nil, count: count)
    unfinished = count
  }

  func drop() { responses = Array(repeating: nil, count: responses.count) }
}

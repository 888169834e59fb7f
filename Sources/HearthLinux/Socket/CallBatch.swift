/// The calls of one array, which are answered together. Used on the event loop only.
final class CallBatch: @unchecked Sendable {
  /// Each without its line's end.
  var responses: [[UInt8]?]
  var unfinished: Int
  var starts: [@Sendable () -> Void] = []

  init(count: Int) {
    responses = Array(repeating: nil, count: count)
    unfinished = count
  }

  func drop() { responses = Array(repeating: nil, count: responses.count) }
}

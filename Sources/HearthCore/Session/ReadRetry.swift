/// When the credential is looked at again.
struct ReadRetry: Hashable, Sendable {
  var isReading = false
  /// Asked for while a read was under way, or not begun yet.
  var isWanted = false
  /// Looks in a row that found the file unreadable.
  var fruitless = 0
  var againAt: Timestamp?

  /// 0.3 s doubling to 30 s, for ever: neither inotify nor anything else tells that a locked place was opened.
  mutating func wasFruitless(at now: Timestamp) {
    fruitless += 1
    let doublings = Swift.min(fruitless - 1, 10)
    againAt = now + Swift.min(.milliseconds(300) * (1 << doublings), .seconds(30))
  }

  mutating func wasFruitful() {
    fruitless = 0
    againAt = nil
  }
}

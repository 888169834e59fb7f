/// When the credential is read, and when it is read again.
struct ReadRetry: Hashable, Sendable {
  /// The account's memory is read first, and that begins with the session.
  private(set) var isUnderWay = true
  /// Asked for while a read was under way, or not begun yet.
  private(set) var isRequested = false
  private(set) var retryAt: Timestamp?
  /// Reads in a row that found the file unreadable.
  private var failures = 0

  mutating func request() { isRequested = true }

  /// Turns a retry whose time has come into a request.
  mutating func requestIfDue(at now: Timestamp) {
    guard let retryAt, retryAt <= now else { return }
    self.retryAt = nil
    isRequested = true
  }

  mutating func begin() {
    isRequested = false
    isUnderWay = true
  }

  mutating func end() { isUnderWay = false }

  /// 0.3 s doubling to 30 s, for ever: neither inotify nor anything else reports that a locked place was opened.
  mutating func failed(at now: Timestamp) {
    failures += 1
    let doublings = Swift.min(failures - 1, 10)
    retryAt = now + Swift.min(.milliseconds(300) * (1 << doublings), .seconds(30))
  }

  mutating func succeeded() {
    failures = 0
    retryAt = nil
  }

  mutating func cancelRetry() { retryAt = nil }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}

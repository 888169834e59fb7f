/// When something that could not be written is written again.
struct WriteRetry: Hashable, Sendable {
  /// Writes, ends and removals that the store has not answered yet.
  private var underWay = 0
  /// Writes in a row that failed and are repeated.
  private(set) var failures = 0
  private(set) var retryAt: Timestamp?
  private(set) var lastFailure: AccessFailure?

  var isUnderWay: Bool { underWay > 0 }

  mutating func begin() { underWay += 1 }

  mutating func end() { underWay -= 1 }

  mutating func failed(_ accessFailure: AccessFailure, at now: Timestamp, share: Double) {
    failures += 1
    lastFailure = accessFailure
    retryAt =
      now
      + RefreshSettings.backoff(initial: .milliseconds(500), limit: .seconds(30), failures: failures, share: share)
  }

  /// A failure that a later read makes good for: nothing is repeated here.
  mutating func failedWithoutRetry(_ accessFailure: AccessFailure) { lastFailure = accessFailure }

  /// Also where what had to be written is not wanted any more.
  mutating func succeeded() {
    failures = 0
    retryAt = nil
    lastFailure = nil
  }

  mutating func retryNow() { retryAt = nil }

  /// Nothing is being written, and no retry is being waited for.
  func mayBegin(at now: Timestamp) -> Bool { !isUnderWay && retryAt.map { $0 <= now } ?? true }

  /// Nil while a write is under way: its result decides.
  var wakeAt: Timestamp? { isUnderWay ? nil : retryAt }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}

/// When what could not be written is written again.
struct WriteRetry: Hashable, Sendable {
  /// Writes, ends and removals that the store has not answered yet.
  var underWay = 0
  /// What is in memory has changed since the write was asked for: what lands is out of date.
  var isOvertaken = false
  var failures = 0
  var againAt: Timestamp?
  var lastFailure: AccessFailure?

  var isWriting: Bool { underWay > 0 }

  mutating func failed(_ accessFailure: AccessFailure, at now: Timestamp, share: Double) {
    failures += 1
    lastFailure = accessFailure
    againAt =
      now
      + RefreshSettings.backoff(
        initial: .milliseconds(500), limit: .seconds(30), failures: failures, share: share)
  }

  mutating func succeeded() {
    failures = 0
    againAt = nil
    lastFailure = nil
  }
}

/// When a step on a sink's file that fails is tried again.
struct SinkRetry: Hashable, Sendable {
  private static let initial: Duration = .seconds(1)
  private static let limit: Duration = .seconds(60)

  private(set) var failure: SinkFailure?
  private(set) var retryAt: Timestamp?
  private var failures = 0

  /// Whether it is another failure than the one before.
  mutating func failed(_ failure: SinkFailure, at now: Timestamp) -> Bool {
    defer { self.failure = failure }
    failures += 1
    retryAt = now + RefreshSettings.backoff(initial: Self.initial, limit: Self.limit, failures: failures, share: 1)
    return failure != self.failure
  }

  mutating func retryNow() { retryAt = nil }

  func mayBegin(at now: Timestamp) -> Bool { retryAt.map { $0 <= now } ?? true }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}

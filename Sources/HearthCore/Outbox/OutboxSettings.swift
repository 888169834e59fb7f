/// Limits and waits of the outbox (`[outbox]` in the configuration).
package struct OutboxSettings: Hashable, Sendable {
  package var maxItems: Int = 100_000
  /// Of all items together, in bytes.
  package var maxBytes: Int = 1 << 30
  /// Of one body, in bytes.
  package var maxBody: Int = 1 << 20
  /// Unordered requests of an account in flight at once. Lanes have one each, and wait for none of these.
  package var concurrency: Int = 8
  package var retryInitial: Duration = .seconds(1)
  package var retryMax: Duration = .seconds(6 * 3600)
  package var maxAttempts: Int = 30
  package var idempotencyHorizon: Duration = .seconds(24 * 3600)
  package var keepDelivered: Duration = .seconds(24 * 3600)
  package var keepDead: Duration = .seconds(30 * 24 * 3600)

  package init() {}
}

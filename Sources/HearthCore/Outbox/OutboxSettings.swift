/// The limits and delays of the outbox (`[outbox]` in the configuration).
package struct OutboxSettings: Hashable, Sendable {
  package var maxItems: Int = 100_000
  /// The maximum total size of the items whose content is stored, in bytes.
  package var maxBytes: Int = 1 << 30
  /// The maximum size of one body, in bytes.
  package var maxBody: Int = 1 << 20
  /// The maximum number of concurrent unordered requests per account and origin.
  package var concurrency: Int = 8
  package var retryInitial: Duration = .seconds(1)
  package var retryMax: Duration = .seconds(6 * 3600)
  package var maxAttempts: Int = 30
  package var idempotencyHorizon: Duration = .seconds(24 * 3600)
  package var keepDelivered: Duration = .seconds(24 * 3600)
  package var keepDead: Duration = .seconds(30 * 24 * 3600)
  /// The time limit for a whole request to an API (`request_timeout`, which also applies to providers).
  package var requestTimeout: Duration = .seconds(30)

  package init() {}

  var retry: RetryPolicy { RetryPolicy(initial: retryInitial, max: retryMax) }

  package enum Key: String, ConfigurationKey {
    case concurrency
    case maxItems = "max_items"
    case maxBytes = "max_bytes"
    case maxBody = "max_body"
    case retryInitial = "retry_initial"
    case retryMax = "retry_max"
    case maxAttempts = "max_attempts"
    case idempotencyHorizon = "idempotency_horizon"
    case keepDelivered = "keep_delivered"
    case keepDead = "keep_dead"
  }

  package init(reading table: TableReader<Key>) throws {
    maxItems = try table.integer(.maxItems, in: 1...100_000_000) ?? maxItems
    maxBytes = try table.byteCount(.maxBytes) ?? maxBytes
    maxBody = try table.byteCount(.maxBody) ?? maxBody
    concurrency = try table.integer(.concurrency, in: 1...1024) ?? concurrency
    retryInitial = try table.duration(.retryInitial) ?? retryInitial
    retryMax = try table.duration(.retryMax) ?? retryMax
    maxAttempts = try table.integer(.maxAttempts, in: 1...1_000_000) ?? maxAttempts
    idempotencyHorizon = try table.duration(.idempotencyHorizon) ?? idempotencyHorizon
    keepDelivered = try table.duration(.keepDelivered, orZero: true) ?? keepDelivered
    keepDead = try table.duration(.keepDead, orZero: true) ?? keepDead
    guard retryInitial <= retryMax else {
      throw table.has(.retryInitial)
        ? table.error(.retryInitial, "must not be longer than retry_max")
        : table.error(.retryMax, "must not be shorter than retry_initial")
    }
    guard maxBody <= maxBytes else {
      throw table.has(.maxBody)
        ? table.error(.maxBody, "must not be larger than max_bytes")
        : table.error(.maxBytes, "must not be smaller than max_body")
    }
  }
}

/// When a grant is refreshed, and how long failures are waited out (`[refresh]` in the configuration).
package struct RefreshSettings: Hashable, Sendable {
  /// A refresh is due this long before expiry, or at `marginFraction` of the lifetime, whichever is shorter.
  package var margin: Duration = .seconds(300)
  package var marginFraction: Double = 0.2
  /// Up to this share of the margin is added, at random, so that many machines do not come at once.
  package var jitter: Double = 0.1
  package var backoffInitial: Duration = .seconds(1)
  package var backoffMax: Duration = .seconds(300)
  package var requestTimeout: Duration = .seconds(30)

  /// How long a daemon that is to stop waits for a request that was sent: its timeout, and 5 s for the response to
  /// reach the disk.
  package var stopPatience: Duration { requestTimeout + .seconds(5) }

  package init() {}
}

extension RefreshSettings {
  package enum Key: String, ConfigurationKey {
    case margin, jitter
    case marginFraction = "margin_fraction"
    case backoffInitial = "backoff_initial"
    case backoffMax = "backoff_max"
    case requestTimeout = "request_timeout"
  }

  package init(reading table: TableReader<Key>) throws(ConfigurationError) {
    margin = try table.duration(.margin, orZero: true) ?? margin
    marginFraction = try table.fraction(.marginFraction) ?? marginFraction
    jitter = try table.fraction(.jitter) ?? jitter
    backoffInitial = try table.duration(.backoffInitial) ?? backoffInitial
    backoffMax = try table.duration(.backoffMax) ?? backoffMax
    requestTimeout = try table.duration(.requestTimeout) ?? requestTimeout
    guard backoffInitial <= backoffMax else {
      throw table.error(
        table.has(.backoffInitial) ? .backoffInitial : .backoffMax, "makes backoff_initial longer than backoff_max")
    }
  }
}

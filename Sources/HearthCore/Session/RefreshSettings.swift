/// When a grant is refreshed, and how long to wait after failures (`[refresh]` in the configuration).
package struct RefreshSettings: Hashable, Sendable {
  /// A refresh is due this long before expiry, or at `marginFraction` of the lifetime, whichever is shorter.
  package var margin: Duration = .seconds(300)
  package var marginFraction: Double = 0.2
  /// The maximum random share of the margin that is added to it, so that many machines do not refresh at once.
  package var jitter: Double = 0.1
  package var backoffInitial: Duration = .seconds(1)
  package var backoffMax: Duration = .seconds(300)
  package var requestTimeout: Duration = .seconds(30)

  /// How long a stopping daemon waits for a request: its timeout, and 5 s for writing the response to disk.
  package var stopTimeout: Duration { requestTimeout + .seconds(5) }

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

/// When to refresh and how long to wait after a failure. All randomness is passed in as `share`, from 0 up to 1.
extension RefreshSettings {
  /// The minimum time between two attempts, whatever the lifetimes and answers.
  package static let leastGap: Duration = .seconds(1)

  /// The minimum time between an attempt and one that a user asks for while the provider's `Retry-After` runs.
  package static let personalGap: Duration = .seconds(10)

  /// The minimum time between two refreshes for 401s from an API that accepts the session's tokens.
  static let rejectionGap: Duration = .seconds(60)

  /// The longest wait while the provider answers 4xx without a known reason.
  package static let unclearBackoffMax: Duration = .seconds(3600)

  /// The longest `Retry-After` of a provider that is obeyed.
  package static let retryAfterCap: Duration = .seconds(3600)

  /// How long before its expiry a grant counts as expiring.
  package func margin(forLifetime lifetime: Duration) -> Duration {
    Swift.min(margin, lifetime * marginFraction)
  }

  /// When a grant is due: before its bearer or its refresh token expires, whichever is first. `nil` if neither does.
  package func refreshTime(of grant: Grant, share: Double) -> Timestamp? {
    let ends = [grant.expiresAt, grant.refreshToken == nil ? nil : grant.refreshExpiresAt].compactMap(\.self)
    let due = ends.map { end in
      end - margin(forLifetime: Swift.max(end - grant.issuedAt, .zero)) * (1 + jitter * share)
    }
    return due.min().map { Swift.max($0, grant.issuedAt + Self.leastGap) }
  }

  /// The wait after this number of failures in a row: between half and the whole of a step that doubles, up to the
  /// larger of `backoffMax` and `limit`.
  package func backoff(failures: Int, atLeastUpTo limit: Duration = .zero, share: Double) -> Duration {
    let policy = RetryPolicy(initial: backoffInitial, max: Swift.max(backoffMax, limit))
    return Swift.max(policy.wait(failures: failures, random: share), .milliseconds(1))
  }

  /// The wait after this number of failures in a row, the last of which was of this kind.
  func backoff(after kind: RefreshTrouble.Kind, failures: Int, share: Double) -> Duration {
    switch kind {
    case .misconfigured, .otherUser: configurationBackoff(share: share)
    case .unclear: backoff(failures: failures, atLeastUpTo: Self.unclearBackoffMax, share: share)
    case .unreachable, .unavailable, .passphraseNeeded: backoff(failures: failures, share: share)
    }
  }

  /// The wait while the provider rejects the configuration: between half and the whole of the longest step.
  package func configurationBackoff(share: Double) -> Duration {
    Swift.max(backoffMax * (0.5 + share / 2), Self.leastGap)
  }
}

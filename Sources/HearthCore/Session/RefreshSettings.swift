/// When to refresh a grant, and how long to wait after failures (`[refresh]` in the configuration).
package struct RefreshSettings: Hashable, Sendable {
  /// How long before expiry a refresh is due, at most `marginFraction` of the lifetime.
  package var margin: Duration = .seconds(300)
  package var marginFraction: Double = 0.2
  /// The maximum random extension of the margin, as a fraction of the margin. It keeps many machines from refreshing at
  /// the same time.
  package var jitter: Double = 0.1
  package var backoffInitial: Duration = .seconds(1)
  package var backoffMax: Duration = .seconds(300)
  package var requestTimeout: Duration = .seconds(30)

  /// How long a stopping daemon waits for a request: the request's timeout plus 5 s to save the response.
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

  package init(reading table: TableReader<Key>) throws {
    margin = try table.duration(.margin, orZero: true) ?? margin
    marginFraction = try table.fraction(.marginFraction) ?? marginFraction
    jitter = try table.fraction(.jitter) ?? jitter
    backoffInitial = try table.duration(.backoffInitial) ?? backoffInitial
    backoffMax = try table.duration(.backoffMax) ?? backoffMax
    requestTimeout = try table.duration(.requestTimeout) ?? requestTimeout
    guard backoffInitial <= backoffMax else {
      throw table.has(.backoffInitial)
        ? table.error(.backoffInitial, "must not be longer than backoff_max")
        : table.error(.backoffMax, "must not be shorter than backoff_initial")
    }
  }
}

/// Calculates when to refresh and how long to wait after a failure. `share` is a random number in 0..<1.
extension RefreshSettings {
  /// The minimum time between two attempts. It does not delay the repetition of a request whose response was lost.
  package static let leastGap: Duration = .seconds(1)

  /// The maximum time, measured from the last attempt, for which the provider's `Retry-After` delays a refresh that a
  /// user requests.
  package static let personalGap: Duration = .seconds(10)

  /// The time after a refresh of a rejected token during which a repeated 401 from the same path causes no further
  /// refresh, if this sign-in's tokens are accepted elsewhere.
  static let rejectionGap: Duration = .seconds(60)

  /// The maximum wait while the provider rejects requests for unknown reasons (4xx), unless `backoffMax` is longer.
  package static let unclearBackoffMax: Duration = .seconds(3600)

  /// The upper limit for a provider's `Retry-After`.
  package static let retryAfterCap: Duration = .seconds(3600)

  /// Returns how long before its expiry a grant counts as expiring.
  package func margin(forLifetime lifetime: Duration) -> Duration {
    Swift.min(margin, lifetime * marginFraction)
  }

  /// Returns the time at which a refresh is due, which is before the bearer and the refresh token expire but at least
  /// `leastGap` after the grant was issued. Returns `nil` if neither expiry is known.
  package func refreshTime(of grant: Grant, share: Double) -> Timestamp? {
    let ends = [grant.expiresAt, grant.refreshToken == nil ? nil : grant.refreshExpiresAt].compactMap(\.self)
    let due = ends.map { end in
      end - margin(forLifetime: Swift.max(end - grant.issuedAt, .zero)) * (1 + jitter * share)
    }
    return due.min().map { Swift.max($0, grant.issuedAt + Self.leastGap) }
  }

  /// Returns the wait after this many consecutive failures. The wait is between half and all of a step that doubles, up
  /// to the larger of `backoffMax` and `limit`.
  package func backoff(failures: Int, atLeastUpTo limit: Duration = .zero, share: Double) -> Duration {
    let policy = RetryPolicy(initial: backoffInitial, max: Swift.max(backoffMax, limit))
    return Swift.max(policy.wait(failures: failures, random: share), .milliseconds(1))
  }

  /// Returns the wait after this many consecutive failures. `kind` is the kind of the last failure.
  func backoff(after kind: RefreshTrouble.Kind, failures: Int, share: Double) -> Duration {
    switch kind {
    case .misconfigured, .otherUser: configurationBackoff(share: share)
    case .unclear: backoff(failures: failures, atLeastUpTo: Self.unclearBackoffMax, share: share)
    case .unreachable, .unavailable, .passphraseNeeded: backoff(failures: failures, share: share)
    }
  }

  /// Returns the wait while the provider rejects the configuration: between half and all of `backoffMax`, but at least
  /// `leastGap`.
  package func configurationBackoff(share: Double) -> Duration {
    Swift.max(backoffMax * (0.5 + share / 2), Self.leastGap)
  }
}

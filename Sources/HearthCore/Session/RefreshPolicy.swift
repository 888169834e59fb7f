/// When to refresh and how long to wait after a failure. All randomness comes in as `share`, from 0 up to 1.
extension RefreshSettings {
  /// The least time between two attempts, whatever the lifetimes and answers.
  package static let leastGap: Duration = .seconds(1)

  /// The least time between an attempt and one that a person asks for while the provider's `Retry-After` runs.
  package static let personalGap: Duration = .seconds(10)

  /// How long the waits grow while the provider answers 4xx without a reason that is known.
  package static let unclearBackoffMax: Duration = .seconds(3600)

  /// The most that a provider's `Retry-After` is followed.
  package static let retryAfterCap: Duration = .seconds(3600)

  /// How long before expiry a grant counts as expiring.
  package func margin(forLifetime lifetime: Duration) -> Duration {
    Swift.min(margin, lifetime * marginFraction)
  }

  /// When a grant is due: before the token that APIs are shown runs out, or before the refresh token does, whichever is
  /// first; nil where neither expires.
  package func refreshTime(of grant: Grant, share: Double) -> Timestamp? {
    let ends = [grant.expiresAt, grant.refreshToken == nil ? nil : grant.refreshExpiresAt].compactMap(\.self)
    let due = ends.map { end in
      end - margin(forLifetime: Swift.max(end - grant.issuedAt, .zero)) * (1 + jitter * share)
    }
    return due.min().map { Swift.max($0, grant.issuedAt + Self.leastGap) }
  }

  /// The wait after so many failures in a row: between half and whole of a step that doubles, up to `backoffMax` or,
  /// where that is longer, `limit`.
  package func backoff(failures: Int, atLeastUpTo limit: Duration = .zero, share: Double) -> Duration {
    Self.backoff(initial: backoffInitial, limit: Swift.max(backoffMax, limit), failures: failures, share: share)
  }

  /// The wait after so many failures in a row, the last of which was of this kind.
  func backoff(after kind: RefreshTrouble.Kind, failures: Int, share: Double) -> Duration {
    switch kind {
    case .misconfigured, .otherUser: configurationBackoff(share: share)
    case .unclear: backoff(failures: failures, atLeastUpTo: Self.unclearBackoffMax, share: share)
    case .unreachable, .unavailable, .passphraseNeeded: backoff(failures: failures, share: share)
    }
  }

  /// The wait while the provider rejects the configuration: between half and whole of the longest step.
  package func configurationBackoff(share: Double) -> Duration {
    Swift.max(backoffMax * (0.5 + share / 2), Self.leastGap)
  }

  package static func backoff(initial: Duration, limit: Duration, failures: Int, share: Double) -> Duration {
    Swift.max(RetryPolicy(initial: initial, max: limit).wait(failures: failures, random: share), .milliseconds(1))
  }
}

/// When to refresh and how long to wait after a failure. All randomness comes in as `share`, from 0 up to 1.
extension RefreshSettings {
  /// The least time between two attempts, whatever the lifetimes and answers.
  package static let leastGap: Duration = .seconds(1)

  /// The wait after a 400 that says nothing readable, before it is believed.
  package static let unclearRefusalWait: Duration = .seconds(10)

  /// The most that a provider's `Retry-After` is followed.
  package static let retryAfterCap: Duration = .seconds(3600)

  /// How long before expiry a grant counts as expiring.
  package func margin(forLifetime lifetime: Duration) -> Duration {
    Swift.min(margin, lifetime * marginFraction)
  }

  /// When a grant is due; nil where it never expires.
  package func refreshTime(of grant: Grant, share: Double) -> Timestamp? {
    guard let expiresAt = grant.expiresAt, let lifetime = grant.lifetime else { return nil }
    let margin = margin(forLifetime: lifetime) * (1 + jitter * share)
    return Swift.max(expiresAt - margin, grant.issuedAt + Self.leastGap)
  }

  /// The wait after so many failures in a row: between half and whole of a step that doubles.
  package func backoff(failures: Int, share: Double) -> Duration {
    Self.backoff(initial: backoffInitial, limit: backoffMax, failures: failures, share: share)
  }

  /// The wait while the provider refuses the configuration: between half and whole of the longest step.
  package func configurationBackoff(share: Double) -> Duration {
    Swift.max(backoffMax * (0.5 + share / 2), Self.leastGap)
  }

  package static func backoff(initial: Duration, limit: Duration, failures: Int, share: Double) -> Duration {
    Swift.max(RetryPolicy(initial: initial, max: limit).wait(failures: failures, random: share), .milliseconds(1))
  }
}

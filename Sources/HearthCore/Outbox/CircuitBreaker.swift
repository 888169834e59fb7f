/// Tracks which of an account's origins are reachable. An unreachable origin is probed with one request at a time.
package struct CircuitBreaker: Hashable, Sendable {
  /// How many requests may be sent to an origin now.
  package enum Allowance: Hashable, Sendable {
    case open
    /// One request may be sent, to find out whether the origin is reachable again.
    case probe
    case closed(until: Timestamp)
  }

  private struct Outage: Hashable {
    var failures: Int
    var probeAt: Timestamp
    var isProbed = false
    /// Whether the account has no item to probe the origin with.
    var isIdle = false
  }

  private var retry: RetryPolicy
  private var outages: [Origin: Outage] = [:]

  package init(_ retry: RetryPolicy) { self.retry = retry }

  package var unreachable: Set<Origin> { Set(outages.keys) }

  package func allowance(for origin: Origin, at now: Timestamp) -> Allowance {
    guard let outage = outages[origin] else { return .open }
    if outage.isProbed { return .closed(until: .distantFuture) }
    return outage.probeAt <= now ? .probe : .closed(until: outage.probeAt)
  }

  /// Called when the store has claimed the item that probes the origin.
  package mutating func probing(_ origin: Origin) {
    outages[origin]?.isProbed = true
    outages[origin]?.isIdle = false
  }

  /// Called when the store has no item for the probe. Ignores an outage that began after the demand.
  package mutating func nothingToProbe(_ origin: Origin, at now: Timestamp) {
    if let outage = outages[origin], outage.probeAt <= now { outages[origin]?.isIdle = true }
  }

  /// Called when the probe was not sent after all.
  package mutating func probeGivenUp(_ origin: Origin) { outages[origin]?.isProbed = false }

  /// Records that no connection could be made, and returns when the origin is probed. Requests that were already under
  /// way when the outage was noticed do not prolong it.
  package mutating func failed(_ origin: Origin, at now: Timestamp, random: Double) -> Timestamp {
    if let outage = outages[origin], !outage.isProbed { return outage.probeAt }
    let failures = (outages[origin]?.failures ?? 0) + 1
    let probeAt = now + retry.wait(failures: failures, random: random)
    outages[origin] = Outage(failures: failures, probeAt: probeAt)
    return probeAt
  }

  /// Called when the origin has answered.
  package mutating func answered(_ origin: Origin) { outages[origin] = nil }

  /// Applies a reloaded configuration: forgets origins that were removed, and uses `retry` for later outages.
  package mutating func configure(_ origins: Set<Origin>, _ retry: RetryPolicy) {
    self.retry = retry
    outages = outages.filter { origins.contains($0.key) }
  }

  /// Called when the network may be back. Each origin may be probed at once.
  package mutating func retryNow(at now: Timestamp) {
    for origin in outages.keys { outages[origin]?.probeAt = now }
  }

  /// Called when the clock was stepped by `shift`.
  package mutating func shift(by shift: Duration) {
    for (origin, outage) in outages { outages[origin]?.probeAt = outage.probeAt + shift }
  }

  /// When the next probe is due, or `nil` if none is.
  package var nextProbeAt: Timestamp? {
    outages.values.filter { !$0.isProbed && !$0.isIdle }.map(\.probeAt).min()
  }
}

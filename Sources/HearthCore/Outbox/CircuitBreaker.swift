/// Tracks which of an account's origins can be reached. One that cannot is probed with one request at a time.
package struct CircuitBreaker: Hashable, Sendable {
  /// How many requests an origin may be sent now.
  package enum Allowance: Hashable, Sendable {
    case open
    /// One request may be sent, to find out whether the origin can be reached again.
    case probe
    case closed(until: Timestamp)
  }

  private struct Outage: Hashable {
    var failures: Int
    var probeAt: Timestamp
    var isProbed = false
    /// No item is there to probe it with.
    var isIdle = false
  }

  private var retry: RetryPolicy
  private var outages: [Origin: Outage] = [:]

  package init(_ retry: RetryPolicy) {
    self.retry = retry
  }

  package var unreachable: Set<Origin> { Set(outages.keys) }

  package func allowance(for origin: Origin, at now: Timestamp) -> Allowance {
    guard let outage = outages[origin] else { return .open }
    if outage.isProbed { return .closed(until: .distantFuture) }
    return outage.probeAt <= now ? .probe : .closed(until: outage.probeAt)
  }

  /// The item that probes an origin was claimed.
  package mutating func probing(_ origin: Origin) {
    outages[origin]?.isProbed = true
    outages[origin]?.isIdle = false
  }

  /// No item is there to be sent: the next one is the probe. An outage that is younger than the demand was not meant.
  package mutating func nothingToProbe(_ origin: Origin, at now: Timestamp) {
    if let outage = outages[origin], outage.probeAt <= now { outages[origin]?.isIdle = true }
  }

  /// The probe was not sent after all.
  package mutating func probeGivenUp(_ origin: Origin) {
    outages[origin]?.isProbed = false
  }

  /// No connection was made. Returns when the origin is probed. Requests that were under way when the outage was noticed do
  /// not lengthen it.
  package mutating func failed(_ origin: Origin, at now: Timestamp, random: Double) -> Timestamp {
    if let outage = outages[origin], !outage.isProbed { return outage.probeAt }
    let failures = (outages[origin]?.failures ?? 0) + 1
    let probeAt = now + retry.wait(failures: failures, random: random)
    outages[origin] = Outage(failures: failures, probeAt: probeAt)
    return probeAt
  }

  /// The origin has answered.
  package mutating func answered(_ origin: Origin) {
    outages[origin] = nil
  }

  /// The configuration was read again: other origins are not the account's any more, and later outages go by `retry`.
  package mutating func configure(_ origins: Set<Origin>, _ retry: RetryPolicy) {
    self.retry = retry
    outages = outages.filter { origins.contains($0.key) }
  }

  /// The network may be back: each origin may be probed at once.
  package mutating func retryNow(at now: Timestamp) {
    for origin in outages.keys { outages[origin]?.probeAt = now }
  }

  /// The clock was stepped by `shift`.
  package mutating func shift(by shift: Duration) {
    for (origin, outage) in outages { outages[origin]?.probeAt = outage.probeAt + shift }
  }

  /// When the next probe is due; nil where none is due.
  package var nextProbeAt: Timestamp? {
    outages.values.filter { !$0.isProbed && !$0.isIdle }.map(\.probeAt).min()
  }
}

/// Tracks which of an account's origins are unreachable, and allows one probe at a time to each unreachable origin.
struct CircuitBreaker: Hashable, Sendable {
  private struct Outage: Hashable {
    var failures: Int
    var probeAt: Timestamp
    var isProbed = false
    var isIdle = false
  }

  private var retry: RetryPolicy
  private var outages: [Origin: Outage] = [:]

  init(_ retry: RetryPolicy) { self.retry = retry }

  var unreachable: Set<Origin> { Set(outages.keys) }

  /// Returns the time from which one request may probe the unreachable origin, or `nil` if the origin is reachable.
  /// While a probe is in flight, this is `distantFuture`.
  func probeTime(of origin: Origin) -> Timestamp? {
    outages[origin].map { $0.isProbed ? .distantFuture : $0.probeAt }
  }

  /// Records that the store has claimed an item to probe the origin with.
  mutating func probing(_ origin: Origin) {
    outages[origin]?.isProbed = true
    outages[origin]?.isIdle = false
  }

  /// Records that the store has no item to probe the origin with. Has no effect if the origin has failed again since
  /// the store was asked.
  mutating func nothingToProbe(_ origin: Origin, at now: Timestamp) {
    if let outage = outages[origin], outage.probeAt <= now { outages[origin]?.isIdle = true }
  }

  /// Records that the probe was not sent. Another item can then probe the origin.
  mutating func probeGivenUp(_ origin: Origin) { outages[origin]?.isProbed = false }

  /// Records that the origin could not be reached, and returns the time of the next probe. While no probe is in flight,
  /// further failures come from requests that were sent before the outage, so they do not prolong it.
  mutating func failed(_ origin: Origin, at now: Timestamp, random: Double) -> Timestamp {
    if let outage = outages[origin], !outage.isProbed { return outage.probeAt }
    let failures = (outages[origin]?.failures ?? 0) + 1
    let probeAt = now + retry.wait(failures: failures, random: random)
    outages[origin] = Outage(failures: failures, probeAt: probeAt)
    return probeAt
  }

  /// Ends the origin's outage. Called when a request has reached the origin, even if it got no response.
  mutating func answered(_ origin: Origin) { outages[origin] = nil }

  /// Applies a reloaded configuration: forgets removed origins, and uses `retry` after later failures.
  mutating func configure(_ origins: Set<Origin>, _ retry: RetryPolicy) {
    self.retry = retry
    outages = outages.filter { origins.contains($0.key) }
  }

  /// Makes all unreachable origins due for a probe immediately.
  mutating func retryNow(at now: Timestamp) {
    for origin in outages.keys { outages[origin]?.probeAt = now }
  }

  mutating func shift(by shift: Duration) {
    for (origin, outage) in outages { outages[origin]?.probeAt = outage.probeAt + shift }
  }

  /// The time of the next probe, or `nil` if no probe is scheduled.
  var nextProbeAt: Timestamp? {
    outages.values.filter { !$0.isProbed && !$0.isIdle }.map(\.probeAt).min()
  }
}

/// When a grant is refreshed and how failures are waited out (`[refresh]` in the configuration).
package struct RefreshSettings: Hashable, Sendable {
  /// A refresh is due this long before expiry, or at `marginFraction` of the lifetime, whichever is shorter.
  package var margin: Duration = .seconds(300)
  package var marginFraction: Double = 0.2
  /// Up to this share of the margin is added, at random, so that many machines do not come at once.
  package var jitter: Double = 0.1
  package var backoffInitial: Duration = .seconds(1)
  package var backoffMax: Duration = .seconds(300)
  package var requestTimeout: Duration = .seconds(30)

  /// How long a daemon that is told to stop waits for a request that was sent: its time, and 5 s for the answer to
  /// reach the disk.
  package var stopPatience: Duration { requestTimeout + .seconds(5) }

  package init() {}
}

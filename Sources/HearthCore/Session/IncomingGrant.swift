/// The grant of an import or a sign-in, before it is written.
struct IncomingGrant: Hashable, Sendable {
  /// The epoch in which the grant was requested. It decides what supersedes the grant.
  let since: SessionEpoch
  /// The grant that was imported or that the provider has issued. `nil` until a sign-in receives its grant.
  private(set) var credential: Credential?
  private(set) var timing = GrantTiming.counted
  /// Whether a provider has just issued the grant.
  private(set) var isFresh = false
  /// Whether the grant was requested again, because the first response was lost.
  private(set) var isRepeated = false
  /// Whether the call was already rejected, so that the grant is not used.
  private(set) var isAnswered = false

  init(_ imported: Credential? = nil, isCounted: Bool = true, since epoch: SessionEpoch) {
    (credential, timing, since) = (imported, isCounted ? .counted : .read, epoch)
  }

  mutating func brings(_ response: TokenResponse, as bearer: BearerKind, at now: Timestamp) {
    credential = Credential(response, after: credential?.grant, bearer: bearer, receivedAt: now)
    (timing, isFresh) = (.counted, true)
  }

  mutating func asksAgain() { isRepeated = true }

  mutating func answered() { isAnswered = true }

  /// Adds the user and the origins. Keeps the grant's times, because the clock may have been set in the meantime.
  mutating func complete(by known: Credential, orAt origin: Origin?) {
    credential?.subject = known.subject
    credential?.origin = known.origin ?? origin
    credential?.origins = known.origins
  }

  /// Adjusts the grant's times after the clock was set.
  mutating func move(by step: Duration) {
    guard var grant = credential?.grant else { return }
    timing.move(&grant, by: step)
    credential?.grant = grant
  }
}

/// A call that waits for its answer.
struct WaitingCall: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    case succeeded
    case failed(message: String, retryAfter: Duration?)
  }

  enum Kind: Hashable, Sendable {
    case token(minValidity: Duration?)
    case refresh
    case refusal(Fingerprint)
    case look
    /// With the newest grant in memory, where there was one.
    case signOut(Credential?, revoke: Bool)
    case adoption
  }

  let id: CallID
  let kind: Kind
  var askedAt: Timestamp
  var outcome: Outcome?
}

/// What a service has to carry out for a session, in this order. The result of each comes back as an input.
package enum SessionAction: Hashable, Sendable {
  /// → `started`, or `credentialRead` where the account's memory cannot be read now
  case recall
  /// → `credentialRead`
  case read
  /// Over `SessionMachine.storedVersion`. → `credentialWritten` or `credentialSuperseded`
  case write(Credential, generation: Int)
  /// → `endWritten`
  case writeEnd(EndRecord)
  /// → `removed`
  case remove(EndRecord, fingerprint: Fingerprint?)
  /// → `credentialSetAside`
  case setAside(why: String)
  /// Make room for the answer, then ask the token endpoint. → `refreshEnded`
  case refresh(Credential, generation: Int)
  /// The same, for the client's own first grant. → `refreshEnded`
  case requestGrant(generation: Int)
  /// Ask for the time on the provider's clock. → `refreshEnded`
  case askTime(generation: Int)
  /// → `identified`
  case identify(Credential, generation: Int)
  /// → `lockRemembered`
  case rememberLockedByUser(Bool)
  /// Wipe the key from memory.
  case lockStore
  case revoke(Credential)
  case answer(CallID, SessionResponse)
  case publish(SessionEvent)
}

/// The answer to a call.
package enum SessionResponse: Hashable, Sendable {
  case token(Bearer)
  case done
  /// The credentials that were signed out and are to be revoked, the session's own first; none where the caller does not
  /// want that.
  case signedOut(revoke: [Credential])
  case rejected(SessionRejection)
}

/// Why a call was rejected.
package enum SessionRejection: Hashable, Sendable, Error {
  /// The state says it: unauthenticated, reauthRequired, locked or hydrating for too long.
  case state(SessionState)
  case refreshUnavailable(message: String, retryAfter: Duration?)
  case stopping
  /// Somebody has to sign in: an account of this type cannot ask for a grant by itself.
  case needsSignIn
  /// Another sign-in, a sign-out or another program's grant came in between.
  case superseded
}

/// What a service has to do for a session, in this order. The result of each comes back as an input.
package enum SessionAction: Hashable, Sendable {
  /// → `started`, or `credentialRead` if the account's memory cannot be read now
  case recall
  /// → `credentialRead`
  case read
  /// Writes over `SessionMachine.storedVersion`. → `credentialWritten` or `credentialSuperseded`
  case write(Credential, generation: Int)
  /// → `endWritten`
  case writeEnd(EndRecord)
  /// `revokes` is true if what is removed is to be revoked. → `removed`
  case remove(EndRecord, fingerprint: Fingerprint?, revokes: Bool = true)
  /// → `credentialSetAside`
  case setAside(why: String)
  /// Make room for the answer, then ask the token endpoint. → `refreshEnded`
  case refresh(Credential, generation: Int)
  /// Like `refresh`, for the client's own first grant. → `refreshEnded`
  case requestGrant(generation: Int)
  /// Ask for the time on the provider's clock. → `refreshEnded`
  case askTime(generation: Int)
  /// → `identified`
  case identify(Credential, generation: Int, provider: Int = 0)
  /// Make room for the grant of an import or a sign-in. → `roomMade`
  case makeRoom(CallID)
  /// Ask for the grant of an import or a sign-in. → `obtained`
  case obtain(CallID)
  /// Find out what this credential of an import or a sign-in does not say. → `completed`
  case complete(CallID, Credential)
  /// → `lockRemembered`
  case rememberLockedByUser(Bool)
  /// Remember this before the calls of the same step are answered. Nothing comes back.
  case remember(TokenNote)
  /// Wipe the key from memory.
  case lockStore
  /// Switch to the store that is configured now. `credentialHinted` reports when it is watched.
  case replaceStore
  /// Revoke this grant, which nobody uses any more, once nobody is signed in as its user.
  case revoke(Credential)
  /// Revoke this grant, which its user has signed out, at once.
  case revokeAtOnce(Credential)
  case answer(CallID, SessionResponse)
  case publish(SessionEvent)
}

/// The answer to a call.
package enum SessionResponse: Hashable, Sendable {
  case token(Bearer)
  case done
  /// The signed-out credentials to revoke, the session's own first. Empty if the caller does not want revocation. If
  /// `isComplete` is false, the credential is out of reach, and is removed and revoked when it can be reached.
  case signedOut(revoke: [Credential], isComplete: Bool = true)
  case rejected(SessionRejection)
}

/// Why a call was rejected.
package enum SessionRejection: Hashable, Sendable, Error {
  /// The state is the reason: unauthenticated, reauthRequired, locked, or hydrating for too long.
  case state(SessionState)
  case refreshUnavailable(message: String, retryAfter: Duration?)
  case stopping
  /// A user has to sign in: an account of this type cannot request a grant by itself.
  case needsSignIn
  /// Another sign-in, a sign-out or another program's grant came in between.
  case superseded
  /// The provider gave no grant for an import. The previous session stays.
  case provider(RefreshFailure)
  /// There is no room for the grant of an import or a sign-in, so nobody was asked for it. The previous session stays.
  case storage(AccessFailure)
  /// The provider gave no grant for a sign-in. The previous session stays.
  case signIn(SignInFailure)
}

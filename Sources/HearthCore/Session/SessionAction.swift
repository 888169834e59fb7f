/// An action that a service carries out for a session. Each arrow (→) names the input that returns the result.
package enum SessionAction: Hashable, Sendable {
  /// Read what Hearth remembers about the account. → `started`, or `credentialRead` if reading fails
  case recall
  /// → `credentialRead`
  case read
  /// Write the credential in place of `SessionMachine.storedVersion`. → `credentialWritten` or `credentialSuperseded`
  case write(Credential, generation: Int)
  /// → `endWritten`
  case writeEnd(EndRecord)
  /// Remove the credential. `revokes` is true if the credential will also be revoked. → `removed`
  case remove(EndRecord, fingerprint: Fingerprint?, revokes: Bool = true)
  /// → `credentialSetAside`
  case setAside(why: String)
  /// Reserve disk space for the response, then refresh at the token endpoint. → `refreshEnded`
  case refresh(Credential, generation: Int)
  /// Like `refresh`, for the client's own first grant. → `refreshEnded`
  case requestGrant(generation: Int)
  /// Request the time on the provider's clock. → `refreshEnded`
  case askTime(generation: Int)
  /// → `identified`
  case identify(Credential, generation: Int, provider: Int = 0)
  /// Reserve disk space for the grant of an import or a sign-in. → `roomMade`
  case makeRoom(CallID)
  /// Request the grant of an import or a sign-in, with the browser's code if there is one. → `obtained`
  case obtain(CallID, code: Secret? = nil)
  /// Add the missing user and origin to the credential of an import or a sign-in. → `completed`
  case complete(CallID, Credential)
  /// Ask the provider for the page to open or the code to show. → `signInBegan`
  case beginSignIn(CallID)
  /// Show the user the page to open or the code to enter, because the sign-in now waits for the user.
  case showSignIn(CallID, SignInSteps, SignInProgress)
  /// → `lockRemembered`
  case rememberLockedByUser(Bool)
  /// Save this note before answering the calls of the same step. No input reports the result.
  case remember(TokenNote)
  /// Wipe the key from memory.
  case lockStore
  /// Switch to the newly configured store. → `credentialHinted`, once that store is watched
  case replaceStore
  /// Revoke this unused grant once nobody is signed in as its user.
  case revoke(Credential)
  /// Revoke this signed-out grant immediately.
  case revokeAtOnce(Credential)
  case answer(CallID, SessionResponse)
  case publish(SessionEvent)
}

/// The response to a call.
package enum SessionResponse: Hashable, Sendable {
  case token(Bearer)
  case done
  /// The signed-out credentials to revoke, starting with the session's own. The list is empty if the caller does not
  /// want revocation. If `isComplete` is false, the session's own credential is not in the list, because it is
  /// currently inaccessible. Hearth removes it later.
  case signedOut(revoke: [Credential], isComplete: Bool = true)
  case rejected(Failure)
}

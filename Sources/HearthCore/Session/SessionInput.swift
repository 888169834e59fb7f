/// An event that a session handles. The results of actions are inputs, too.
package enum SessionInput: Sendable {
  /// Hearth has read what it remembers about the account. If reading fails, `credentialRead` reports the failure, and
  /// the session retries.
  case started(RememberedAccount)
  /// The time that `nextWake` returned has come. Sending this input early is harmless.
  case woke
  /// The clock was adjusted by this duration, or the machine has resumed from sleep (zero). The session recalculates
  /// all timers.
  case clockChanged(by: Duration)
  case networkReturned
  /// The configuration was reloaded, and the parts in `changed` are different.
  case configured(SessionSettings, changed: Set<SessionPart> = [])
  case stopping

  /// The file, its folder or its key may have changed.
  case credentialHinted
  case credentialRead(CredentialReading)
  case credentialWritten(generation: Int, Result<Void, AccessFailure>)
  /// The credential was not written, because another program has stored a different grant.
  case credentialSuperseded(generation: Int)
  /// The result is the file's new path. `why` says what is wrong with the file.
  case credentialSetAside(Result<String, AccessFailure>, why: String)
  case endWritten(Result<Void, EndNotWritten>)
  case removed(Result<RemovedCredentials, EndNotWritten>)
  case lockRemembered(Result<Void, AccessFailure>)

  case refreshEnded(generation: Int, RefreshOutcome)
  /// The grant's owner according to the provider, the token endpoint's origin, and the origins of all endpoints that
  /// receive tokens. Each is `nil` if unknown.
  case identified(generation: Int, provider: Int = 0, Subject?, origin: Origin? = nil, origins: Set<Origin>? = nil)

  /// Disk space for the grant of an import or a sign-in has been reserved, or the attempt failed.
  case roomMade(CallID, Result<Void, AccessFailure>)
  /// The provider's response for an import or a sign-in, or `nil` if the imported grant is used unchanged.
  case obtained(CallID, Result<GrantAnswer?, SignInFailure>)
  /// The credential of an import or a sign-in, with its user and origin.
  case completed(CallID, Credential)
  /// The sign-in has started at the provider, or starting it has failed.
  case signInBegan(CallID, Result<SignInSteps, SignInFailure>)
  /// The user or the daemon ends a sign-in.
  case signInInterrupted(CallID, Failure)

  case locked(Lock)
  case unlocked(Lock)
  case called(CallID, SessionCall)
}

/// A part of a running session that a new configuration may replace.
package enum SessionPart: CaseIterable, Sendable {
  /// The way Hearth reaches the provider. A change takes effect with the next request.
  case endpoint
  /// The issuer or the client, to which grants are bound. If it changes, `endpoint` changes, too.
  case provider
  /// The path or the protection of the credential. The new store is used once the previous one has finished its work.
  case store
}

/// The result of an attempt to refresh.
package enum RefreshOutcome: Hashable, Sendable {
  case granted(TokenResponse)
  /// The time on the provider's clock, if the request only asked for the time.
  case told(Timestamp)
  case failed(RefreshFailure)
  /// No request was sent, because the response could not have been stored.
  case notAsked(AccessFailure)
  /// No request was sent, because another program has stored a different grant or a new generation has begun.
  case superseded
}

/// Identifies a waiting call.
package struct CallID: Hashable, Sendable {
  package let number: Int

  package init(_ number: Int) { self.number = number }
}

/// A client's call to a session. Each call is answered exactly once.
package enum SessionCall: Sendable {
  /// Requests a token. Without `minValidity`, the session tries to return a token that is valid for at least a minute,
  /// but may return one that expires sooner.
  case token(minValidity: Duration?)
  case refresh
  case reportUnauthorized(APIRejection)
  case rehydrate
  /// Waits until the credential has been read or reading it has failed.
  case awaitReading
  case signOut(revoke: Bool)
  /// Requests the client's own grant, even after a sign-out or any end other than `credentialTooNew`.
  case requestGrant
  /// Imports a grant. `isCounted` is true only if the caller specified the remaining lifetime, which this clock then
  /// measures. If the import fails, the previous session continues.
  case adopt(Credential, isCounted: Bool = true)
  /// Signs in. The response is the outcome. If the sign-in fails, the previous session continues. `replacesLocked` is
  /// true if a locked credential may be replaced. `endsEarlier` is true if the account's earlier sign-ins end before
  /// this one starts at the provider.
  case signIn(SignInFlow, replacesLocked: Bool = false, endsEarlier: Bool = false)
  /// Handles a request to the redirect address. If it contains the code, the response is the sign-in's outcome.
  case redirected(CallID, RedirectReading)
}

/// Identifies the sign-in to which a request or an imported grant belongs, so that late results can be recognized.
package struct SessionEpoch: Hashable, Sendable {
  /// Counts sign-ins (including the client's own), sign-outs and other programs' grants. The end of a session does
  /// not count.
  package private(set) var generation = 0
  /// Counts changes of the issuer or the client, which do not end the session.
  private(set) var provider = 0
  /// Counts how often the user has locked the account. A sign-in removes only a lock that was set before it began.
  private(set) var userLocks = 0

  mutating func grantReplaced() { generation += 1 }

  mutating func providerChanged() { provider += 1 }

  mutating func userLocked() { userLocks += 1 }
}

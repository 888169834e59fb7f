/// An event that a session handles. The results of actions are inputs, too.
package enum SessionInput: Sendable {
  /// What is remembered about the account has been read. `credentialRead` reports a failure, and the session retries.
  case started(RememberedAccount)
  /// Sent at the time that `nextWake` returned. An earlier time does no harm.
  case woke
  /// The clock was set by this duration, or the machine resumed (zero). All timers are planned again.
  case clockChanged(by: Duration)
  case networkReturned
  /// The configuration was reloaded, and the parts in `changed` are different.
  case configured(SessionSettings, changed: Set<SessionPart> = [])
  case stopping

  /// The file, its folder or its key may have changed.
  case credentialHinted
  case credentialRead(CredentialReading)
  case credentialWritten(generation: Int, Result<Void, AccessFailure>)
  /// The credential was not written, because another program has stored another grant.
  case credentialSuperseded(generation: Int)
  /// The result is the file's new name. `why` says what is wrong with the file.
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
  /// The provider's response for an import or a sign-in. `nil` if the imported grant is used unchanged.
  case obtained(CallID, Result<TokenResponse?, SessionRejection>)
  /// The credential of an import or a sign-in, with its user and origin. `isWanted` is false if the sign-in has ended
  /// in the meantime.
  case completed(CallID, Credential, isWanted: Bool = true)

  case locked(Lock)
  case unlocked(Lock)
  /// A sign-in has begun, or has ended (`nil`).
  case signInChanged(SignInProgress?)
  case called(CallID, SessionCall)
}

/// A part of a running session that a new configuration may replace.
package enum SessionPart: CaseIterable, Sendable {
  /// How Hearth reaches the provider, starting with the next request.
  case endpoint
  /// The issuer or the client, to which grants are bound. `endpoint` changes, too.
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
  /// No request was sent, because another program has stored another grant.
  case superseded
}

/// Identifies a waiting call.
package struct CallID: Hashable, Sendable {
  package let number: Int

  package init(_ number: Int) { self.number = number }
}

/// A client's call to a session. Each call is answered exactly once.
package enum SessionCall: Sendable {
  /// Requests a token. Without a minimum, the session aims at a minute's validity, but may return a shorter-lived
  /// token.
  case token(minValidity: Duration?)
  case refresh
  case reportUnauthorized(APIRejection)
  case rehydrate
  /// Waits until the credential has been read or reading it has failed.
  case awaitReading
  case signOut(revoke: Bool)
  /// Requests the client's own grant immediately, even after a sign-out or the end of the session.
  case requestGrant
  /// Obtains the grant of an import or a sign-in and uses it. If that fails, the previous session continues.
  case adopt(GrantSource)
}

/// The source of a grant that does not come from a refresh.
package enum GrantSource: Hashable, Sendable {
  /// A user imports the grant. `isCounted` is false if its times come from a token instead of this clock.
  case imported(Credential, isCounted: Bool = true)
  /// A sign-in that began in the epoch `since`. It removes the user's lock if the user set the lock before that. If
  /// `replacesLocked` is false and the account is locked, the grant is dropped.
  case signIn(since: SessionEpoch, replacesLocked: Bool)
}

/// Identifies the sign-in to which a request or an imported grant belongs, so that late results are recognised.
package struct SessionEpoch: Hashable, Sendable {
  /// Counts sign-ins, sign-outs and other programs' grants. The end of a session does not count.
  package internal(set) var generation = 0
  /// Counts changes of the issuer or the client, which do not end the sign-in.
  var provider = 0
  /// Counts how often the user has locked the account. A sign-in removes only a lock that was set before it began.
  var userLocks = 0

  /// Returns this epoch with the user's lock count of an earlier one.
  package func since(locksOf earlier: SessionEpoch) -> SessionEpoch {
    SessionEpoch(generation: generation, provider: provider, userLocks: earlier.userLocks)
  }
}

/// Everything that can happen to a session. Results of actions come back as inputs, too.
package enum SessionInput: Sendable {
  /// The account's memory has been read. If it cannot be read, `credentialRead` says so, and it is requested again.
  case started(RememberedAccount)
  /// The time that `nextWake` returned has come, or an earlier one.
  case woke
  /// The clock was set by this much, or the machine resumed (zero). Every plan is made again.
  case clockChanged(by: Duration)
  case networkReturned
  /// The configuration was reloaded, and the parts in `changed` are different.
  case configured(SessionSettings, changed: Set<SessionPart> = [])
  case stopping

  /// The file, its folder or its key may have changed.
  case credentialHinted
  case credentialRead(CredentialReading)
  case credentialWritten(generation: Int, Result<Void, AccessFailure>)
  /// It was not written, since another program has stored another grant.
  case credentialSuperseded(generation: Int)
  /// The result is the name of the file that it was moved to. `why` is the reason.
  case credentialSetAside(Result<String, AccessFailure>, why: String)
  case endWritten(Result<Void, EndNotWritten>)
  case removed(Result<RemovedCredentials, EndNotWritten>)
  case lockRemembered(Result<Void, AccessFailure>)

  case refreshEnded(generation: Int, RefreshOutcome)
  /// The owner of the grant according to the provider, and the origins of the token endpoint and of all endpoints that
  /// receive tokens. `nil` if not known now.
  case identified(generation: Int, provider: Int = 0, Subject?, origin: Origin? = nil, origins: Set<Origin>? = nil)

  /// There is room for the grant of an import or a sign-in, or why there is none.
  case roomMade(CallID, Result<Void, AccessFailure>)
  /// The provider's grant for an import or a sign-in. `nil` if the imported one is used as it is.
  case obtained(CallID, Result<TokenResponse?, SessionRejection>)
  /// The credential of an import or a sign-in, with its user and origin. `isWanted` is false if the sign-in was given
  /// up.
  case completed(CallID, Credential, isWanted: Bool = true)

  case locked(Lock)
  case unlocked(Lock)
  /// A sign-in has begun, or has ended (`nil`).
  case signInChanged(SignInProgress?)
  case called(CallID, SessionCall)
}

/// A part of a running session that a new configuration may replace.
package enum SessionPart: CaseIterable, Sendable {
  /// How the provider is reached, from the next request.
  case endpoint
  /// The issuer or the client, which have their own grants. The endpoint changes, too.
  case provider
  /// The place of the credential, or its protection. It is used once the previous store has finished its work.
  case store
}

/// The result of an attempt to refresh.
package enum RefreshOutcome: Hashable, Sendable {
  case granted(TokenResponse)
  /// The time on the provider's clock, if only that was asked for.
  case told(Timestamp)
  case failed(RefreshFailure)
  /// The answer could not have been stored, so nothing was sent.
  case notAsked(AccessFailure)
  /// Another program has stored another grant, so nothing was sent.
  case superseded
}

/// Identifies a waiting call.
package struct CallID: Hashable, Sendable {
  package let number: Int

  package init(_ number: Int) { self.number = number }
}

/// What a client can ask a session for. Each call is answered exactly once.
package enum SessionCall: Sendable {
  /// A token. Without a minimum the session aims at a minute's validity, and gives a shorter-lived one if it has to.
  case token(minValidity: Duration?)
  case refresh
  case reportUnauthorized(APIRejection)
  case rehydrate
  /// Answered once the credential has been read, or could not be.
  case awaitReading
  case signOut(revoke: Bool)
  /// Requests the client's own grant at once, even if it was signed out or has ended.
  case requestGrant
  /// Obtains the grant of an import or a sign-in, and uses it. If that fails, the previous session stays.
  case adopt(GrantSource)
}

/// Where a grant comes from, if no refresh of the session brings it.
package enum GrantSource: Hashable, Sendable {
  /// A person imports it. `isCounted` is false if its times come from a token and not from this clock.
  case imported(Credential, isCounted: Bool = true)
  /// A sign-in brings it, which began in the epoch `since`. It removes the user's lock if the user set that earlier.
  /// Unless it `replacesLocked`, the grant is dropped if the account is locked.
  case signIn(since: SessionEpoch, replacesLocked: Bool)
}

/// The sign-in to which a request or an imported grant belongs, so that late results are recognised.
package struct SessionEpoch: Hashable, Sendable {
  /// Counts sign-ins, sign-outs and other programs' grants. The end of a session does not count.
  package internal(set) var generation = 0
  /// Counts changes of the issuer or the client, which end no sign-in.
  var provider = 0
  /// Counts the user's own locks. A sign-in removes those that were set when it began, but no later one.
  var userLocks = 0

  /// This epoch with the count of the user's locks from an earlier one.
  package func since(locksOf earlier: SessionEpoch) -> SessionEpoch {
    SessionEpoch(generation: generation, provider: provider, userLocks: earlier.userLocks)
  }
}

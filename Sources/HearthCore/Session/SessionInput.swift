/// What can happen to a session. Results of actions come back as inputs, too.
package enum SessionInput: Sendable {
  /// What is remembered of the account has been read. Where it cannot be read, `credentialRead` says so, and it is
  /// requested again.
  case started(RememberedAccount)
  /// The time that `nextWake` named has come, or an earlier one.
  case woke
  /// The clock was set by so much, or the machine resumed (zero): every plan is made anew.
  case clockChanged(by: Duration)
  case networkReturned
  case settingsChanged(RefreshSettings)
  case stopping

  /// The file, its folder or its key may have changed.
  case credentialHinted
  case credentialRead(CredentialReading)
  case credentialWritten(generation: Int, Result<Void, AccessFailure>)
  /// It was not written, since another program has put another grant there.
  case credentialSuperseded(generation: Int)
  /// With the name of the file that it was moved to, and why that was done.
  case credentialSetAside(Result<String, AccessFailure>, why: String)
  case endWritten(Result<Void, EndNotWritten>)
  case removed(Result<RemovedCredentials, EndNotWritten>)
  case lockRemembered(Result<Void, AccessFailure>)

  case refreshEnded(generation: Int, RefreshOutcome)
  /// Whose the grant is, according to the provider, and where the token endpoint and the others that are sent tokens are;
  /// nil where that is not known now.
  case identified(generation: Int, Subject?, origin: Origin? = nil, origins: Set<Origin>? = nil)

  case locked(Lock)
  case unlocked(Lock)
  /// A sign-in has begun, or is over (nil).
  case signInChanged(SignInProgress?)
  case called(CallID, SessionCall)
}

/// The result of an attempt to refresh.
package enum RefreshOutcome: Hashable, Sendable {
  case granted(TokenResponse)
  /// The time on the provider's clock, which alone was asked for.
  case told(Timestamp)
  case failed(RefreshFailure)
  /// The room to store the answer could not be made, so nothing was sent.
  case notAsked(AccessFailure)
  /// Another program has put another grant there, so nothing was sent.
  case superseded
}

/// Names one waiting call.
package struct CallID: Hashable, Sendable {
  package let number: Int

  package init(_ number: Int) {
    self.number = number
  }
}

/// What a client can ask of a session. Each call is answered exactly once.
package enum SessionCall: Sendable {
  /// A token. Without a minimum a minute's validity is aimed at, and a token that is valid for less is given where no
  /// better one can be had.
  case token(minValidity: Duration?)
  case refresh
  case reportUnauthorized(APIRejection)
  case rehydrate
  /// Answered once the credential has been read, or could not be.
  case awaitReading
  case signOut(revoke: Bool)
  /// The client's own grant, requested at once also where it was signed out or is over.
  case requestGrant
  /// Uses the grant of a new sign-in, which the provider has already confirmed where it had to. `since`: the epoch in
  /// which the sign-in began. Another sign-in, a sign-out or another program's grant supersedes it, and a lock that was
  /// set later stays. `isCounted`: false where its times are not of this clock, but those that a token names.
  case adopt(Credential, isFresh: Bool = false, isCounted: Bool = true, since: SessionEpoch? = nil)
}

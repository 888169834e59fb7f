import HearthControl
import HearthCore

/// The handler of `session.signOut`.
extension SignOut: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> SignedOut {
    try await service.check(account)
    // Before the session forgets whose the items are.
    let discarded = outbox == .discard ? await service.outbox.subjects(of: account) : []
    try await service.discardOutbox(of: account, under: discarded)
    await service.signIns.end(allOf: account, .signedOut)
    // The page of the provider is told what was signed out, as the revocation is.
    let (entry, answer) = try await service.ask(account, .signOut(revoke: revoke || everywhere))
    // Until now other programs could enqueue more for the user; what comes from here on is the next one's.
    let discard = await Swift.Result { () async throws(RPCError) in
      try await service.discardOutbox(of: account, under: discarded)
    }
    // Nothing that was kept of the user is left when they are told that they are signed out.
    await service.requests.sessionChanged(account, answer.status.state, answer.status.subject)
    var credentials: [Credential] = []
    switch answer.response {
    case .signedOut(let signedOut): credentials = signedOut
    case .rejected(let rejection): throw RPCError(rejection, answer.status)
    case .token, .done: break
    }
    await service.sinks.settle(account)
    let revocation = revoke ? await service.revocations.revoke(credentials, of: entry) : .none
    let page = everywhere ? await entry.endSession(of: credentials.first, service.clock) : nil
    // The revocation comes first: a store that fails must not prevent it.
    try discard.get()
    return SignedOut(answer.status, revocation: revocation, endSession: page)
  }
}

extension SessionDirectory.Entry {
  /// How long the provider is waited for that is to name its page.
  private static let patience: Duration = .seconds(5)

  fileprivate func endSession(of credential: Credential?, _ clock: any Clock) async -> SignedOut.EndSession {
    let result = await clock.within(Self.patience) {
      await Result { () async throws(SignInFailure) in try await signIn.endSession(of: credential) }
    }
    return switch result {
    case .success(let url): .url(url)
    case .failure(let failure): .missing(failure.message)
    case nil: .missing("The provider did not answer, so its page is not known: sign out there in the browser.")
    }
  }
}

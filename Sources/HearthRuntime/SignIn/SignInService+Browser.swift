import HearthCore

/// Sign-in with an authorization code in the user's browser (RFC 8252).
extension SignInService {
  func beginBrowser(
    _ entry: SessionDirectory.Entry, _ beginning: SignInBeginning
  ) async throws(SignInEnd) -> SignInHandle {
    let address = entry.signIn.redirect
    // End the account's previous sign-in first, because it listens on the same port.
    if address.port != nil { await supersede(entry.service.account) }
    let open = try await begun(await redirects.listen(at: address))
    do throws(SignInEnd) {
      return try await begin(at: open, "http://\(address.host):\(open.port)\(address.path)", entry, beginning)
    } catch {
      await open.close()
      throw error
    }
  }

  private func begin(
    at open: any OpenRedirect, _ redirectURI: String, _ entry: SessionDirectory.Entry, _ beginning: SignInBeginning
  ) async throws(SignInEnd) -> SignInHandle {
    let signIn = try await begun(await entry.signIn.beginBrowser(redirectURI: redirectURI))
    await supersede(entry.service.account)
    let (attempt, over) = try add(
      .browser, .browser(signIn), expiresAt: clock.now() + Self.timeout, entry, beginning, at: open)
    await wait(attempt, until: over) {
      for await received in open.requests { await self.receive(received, of: signIn, attempt.begun) }
    }
    return attempt.begun
  }

  private func receive(_ received: ReceivedRedirect, of signIn: BrowserSignIn, _ begun: SignInHandle) async {
    guard isWaiting(begun.id) else { return received.respond(SignInPage.over) }
    switch signIn.read(received.request) {
    case .foreign: received.respond(SignInPage.foreign)
    case .unclaimedError(let message): received.respond(SignInPage.unclaimed(message))
    case .untrusted(let why):
      await tell(why, of: begun.id)
      received.respond(SignInPage.untrusted(why, begun.account))
    case .scopeRefused(_, let fallbackURL) where mayFallBack(begun.id):
      received.respond(SignInPage.elsewhere(fallbackURL))
    case .failed(let failure), .scopeRefused(let failure, _):
      browserIsBack(begun.id) { received.respond(Self.page($0, begun.account)) }
      await conclude(begun.id, .failure(.rejected(.signIn(failure))))
    case .code(let code):
      browserIsBack(begun.id) { received.respond(Self.page($0, begun.account)) }
      redeem(code, of: signIn, begun.id)
    }
  }

  private static func page(_ outcome: Outcome, _ account: AccountName) -> RedirectPage {
    switch outcome {
    case .success: SignInPage.signedIn(account)
    case .failure(let end): SignInPage.failed(end.sentence(account), account)
    }
  }

  /// Redeems the code in a separate task.
  func redeem(_ code: Secret, of signIn: BrowserSignIn, _ id: String) {
    guard let endpoint = endpoint(of: id), decide(.grantDue, on: id) == .ask else { return }
    work.add {
      let outcome = await self.grant(id) { () async throws(SignInFailure) in
        try await endpoint.redeem(code: code, of: signIn)
      }
      await self.conclude(id, outcome)
    }
  }
}

import HearthCore

/// The authorization code by the person's browser (RFC 8252).
extension SignInService {
  func beginBrowser(_ entry: SessionDirectory.Entry, _ replacing: Bool) async throws(SignInEnd) -> BegunAttempt {
    let address = entry.signIn.redirect
    // The one before listens at the same port.
    if address.port != nil { await supersede(entry.service.account) }
    let open: any OpenRedirect
    do throws(SignInFailure) {
      open = try await redirects.listen(at: address)
    } catch {
      throw .failed(error)
    }
    do throws(SignInEnd) {
      return try await begin(at: open, "http://\(address.host):\(open.port)\(address.path)", entry, replacing)
    } catch {
      await open.close()
      throw error
    }
  }

  private func begin(
    at open: any OpenRedirect, _ redirectURI: String, _ entry: SessionDirectory.Entry, _ replacing: Bool
  ) async throws(SignInEnd) -> BegunAttempt {
    let signIn: BrowserSignIn
    do throws(SignInFailure) {
      signIn = try await entry.signIn.beginBrowser(redirectURI: redirectURI)
    } catch {
      throw .failed(error)
    }
    await supersede(entry.service.account)
    let (attempt, over) = try add(
      .browser, .browser(signIn), expiresAt: clock.now() + Self.patience, entry, replacing, at: open)
    await wait(attempt, until: over) {
      for await received in open.requests { await self.receive(received, of: signIn, attempt.begun) }
    }
    return attempt.begun
  }

  private func receive(_ received: ReceivedRedirect, of signIn: BrowserSignIn, _ begun: BegunAttempt) async {
    guard isWaiting(begun.id) else { return received.respond(SignInPage.over) }
    switch signIn.read(received.request) {
    case .foreign: received.respond(SignInPage.foreign)
    case .failed(let failure):
      received.respond(SignInPage.failed(failure.message, begun.account))
      await end(begun.id, .failure(.failed(failure)))
    case .code(let code):
      redeem(code, of: signIn, begun.id) { outcome in
        switch outcome {
        case .success: received.respond(SignInPage.signedIn(begun.account))
        case .failure(let end): received.respond(SignInPage.failed(end.sentence(begun.account), begun.account))
        }
      }
    }
  }
}

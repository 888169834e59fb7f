import HearthCore

/// The authorization code by the person's browser (RFC 8252).
extension SignInService {
  func beginBrowser(_ entry: SessionDirectory.Entry, _ replacing: Bool) async throws(SignInEnd) -> BegunAttempt {
    // The one before may listen at the same port.
    await supersede(entry.service.account)
    let address = entry.signIn.redirect
    do throws(SignInFailure) {
      let open = try await redirects.listen(at: address)
      do throws(SignInFailure) {
        let signIn = try await entry.signIn.beginBrowser(
          redirectURI: "http://\(address.host):\(open.port)\(address.path)")
        await supersede(entry.service.account)
        let (attempt, over) = add(
          .browser, .browser(signIn), expiresAt: clock.now() + Self.patience, entry, replacing)
        await wait(attempt, until: over) {
          for await received in open.requests { await self.receive(received, of: signIn, attempt.begun) }
          await open.close()
        }
        return attempt.begun
      } catch {
        await open.close()
        throw error
      }
    } catch {
      throw .failed(error)
    }
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

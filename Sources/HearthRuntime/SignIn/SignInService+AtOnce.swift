import HearthCore

/// Sign-ins without any action by the user. They are complete when `begin` returns.
extension SignInService {
  func signIn(
    _ name: String, _ password: Secret, to entry: SessionDirectory.Entry, _ beginning: SignInBeginning
  ) async throws(SignInEnd) -> SignInHandle {
    if entry.signIn.takesPassword { await supersede(entry.service.account) }
    return try await complete(.password, entry, beginning) { [endpoint = entry.signIn] id in
      await self.grant(id) { () async throws(SignInFailure) in
        try await endpoint.signIn(username: name, password: password)
      }
    }
  }

  /// Requests the client's own grant (RFC 6749, section 4.4), which the session otherwise requests automatically.
  func requestGrant(
    _ entry: SessionDirectory.Entry, _ beginning: SignInBeginning
  ) async throws(SignInEnd) -> SignInHandle {
    try await complete(.clientCredentials, entry, beginning) { [sessions] _ in
      guard let (_, answer) = await sessions.ask(.requestGrant, of: entry.service.account) else {
        return .failure(.interrupted(.reconfigured))
      }
      return switch answer.response {
      case .done, .token, .signedOut: .success(answer.status)
      case .rejected(.needsSignIn):
        .failure(
          .rejected(.signIn(.notSupported(message: "Only client-credentials accounts support this flow."))))
      case .rejected(let rejection): .failure(.rejected(rejection))
      }
    }
  }

  private func complete(
    _ flow: SignInFlow, _ entry: SessionDirectory.Entry, _ beginning: SignInBeginning,
    _ ask: (_ id: String) async -> Outcome
  ) async throws(SignInEnd) -> SignInHandle {
    let (attempt, _) = try add(flow, .nothing, expiresAt: clock.now() + Self.timeout, entry, beginning)
    let id = attempt.begun.id
    guard decide(.grantDue, on: id) == .ask else { throw .interrupted(.cancelled) }
    _ = try await conclude(id, await ask(id)).get()
    return attempt.begun
  }
}

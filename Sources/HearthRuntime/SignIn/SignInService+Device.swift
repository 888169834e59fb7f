import HearthCore

/// Sign-in with a code that the user enters on another device (RFC 8628).
extension SignInService {
  func beginDevice(
    _ entry: SessionDirectory.Entry, _ beginning: SignInBeginning
  ) async throws(SignInEnd) -> SignInHandle {
    let device = try await begun(await entry.signIn.beginDevice())
    await supersede(entry.service.account)
    let (attempt, over) = try add(.device, .device(device), expiresAt: clock.now() + device.lifetime, entry, beginning)
    await wait(attempt, until: over) { await self.poll(device, attempt) }
    return attempt.begun
  }

  private func poll(_ device: DeviceSignIn, _ attempt: SignInAttempt) async {
    let (id, endpoint) = (attempt.begun.id, attempt.entry.signIn)
    var polling = DevicePolling(device, at: clock.now())
    while true {
      await clock.sleep(until: polling.nextAt)
      guard !Task.isCancelled, decide(.grantDue, on: id) == .ask else { return }
      let outcome = await grant(id) { () async throws(SignInFailure) in try await endpoint.poll(device) }
      guard let answer = outcome.waiting else {
        await conclude(id, outcome)
        return
      }
      guard await handle(.notYet(answer), of: id) == .askAgain else { return }
      polling.answered(answer, at: clock.now())
    }
  }
}

extension SignInService.Outcome {
  /// The reason to poll the provider again, or `nil` if the sign-in is over.
  fileprivate var waiting: DevicePolling.Answer? {
    switch self {
    case .failure(.rejected(.signIn(.pending(let answer)))): answer
    // The provider was not asked. Poll again, because the disk may have space by then.
    case .failure(.rejected(.storage(let failure))):
      .unanswered(message: "Hearth cannot store the credential: \(failure.detail).")
    case .success, .failure: nil
    }
  }
}

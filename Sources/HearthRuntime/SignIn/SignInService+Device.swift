import HearthCore

/// The code that the person types in on another device (RFC 8628).
extension SignInService {
  func beginDevice(_ entry: SessionDirectory.Entry, _ replacing: Bool) async throws(SignInEnd) -> BegunAttempt {
    let device: DeviceSignIn
    do throws(SignInFailure) {
      device = try await entry.signIn.beginDevice()
    } catch {
      throw .failed(error)
    }
    await supersede(entry.service.account)
    let (attempt, over) = try add(.device, .device(device), expiresAt: clock.now() + device.lifetime, entry, replacing)
    await wait(attempt, until: over) { await self.poll(device, attempt) }
    return attempt.begun
  }

  private func poll(_ device: DeviceSignIn, _ attempt: SignInAttempt) async {
    let (id, endpoint) = (attempt.begun.id, attempt.entry.signIn)
    var polling = DevicePolling(device, at: clock.now())
    while true {
      await clock.sleep(until: polling.nextAt)
      guard !Task.isCancelled, isWaiting(id) else { return }
      if let answer = await askOnce(device, id, endpoint) { polling.answered(answer, at: clock.now()) } else { return }
    }
  }

  /// Nil where the sign-in is over.
  private func askOnce(
    _ device: DeviceSignIn, _ id: String, _ endpoint: any SignInEndpoint
  ) async -> DevicePolling.Answer? {
    let outcome = await grant(id) { () async throws(SignInFailure) in
      switch try await endpoint.poll(device) {
      case .granted(let response): return response
      case .pending: throw .pending(.pending)
      case .slowDown: throw .pending(.slowDown)
      case .unanswered: throw .pending(.unanswered)
      }
    }
    let answer: DevicePolling.Answer
    switch outcome {
    case .failure(.notAdopted(.signIn(.pending(let given)))): answer = given
    // Nothing was asked: a lock or a full disk may be over by the next time.
    case .failure(.notAdopted(.locked)), .failure(.notAdopted(.storage)): answer = .unanswered
    case .success, .failure:
      await end(id, outcome)
      return nil
    }
    return await goesOnWaiting(id) ? answer : nil
  }
}

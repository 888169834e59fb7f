/// The end of a session on its way to the disk: it is told once it is on record, and not before.
extension SessionMachine {
  mutating func writeDown(_ record: EndRecord) -> [SessionAction] {
    writing.underWay += 1
    return [record.reason == .signedOut ? .remove(record, fingerprint: onDisk?.accessToken) : .writeEnd(record)]
  }

  /// What people are told while the end could be written down nowhere; nil where that is not so.
  var endFailure: String? {
    guard case .ending(let record, _) = credentialState, writing.failures > 0, let accessFailure = writing.lastFailure
    else {
      return nil
    }
    let what = record.reason == .signedOut ? "You are being signed out" : "The session is over"
    return "\(what), and that cannot be written down yet (\(accessFailure.detail)); Hearth goes on trying."
  }

  mutating func endWritten(_ result: Result<Void, EndNotWritten>, at now: Timestamp) -> [SessionAction] {
    guard settled(result, at: now) else { return endNowhere() }
    if case .ending(let record, _) = credentialState, record.reason != .signedOut { credentialState = .ended(record) }
    return []
  }

  mutating func removed(_ result: Result<RemovedCredentials, EndNotWritten>, at now: Timestamp) -> [SessionAction] {
    guard settled(result.map { _ in }, at: now) else { return endNowhere() }
    let removed = (try? result.get()) ?? RemovedCredentials()
    var actions: [SessionAction] = []
    if case .ending = credentialState {
      credentialState = .absent(signedOut: true)
      actions.append(.announce(.signedOut(subject)))
      subject = settings.configuredSubject
    } else if isAdopting {
      // Somebody has signed in meanwhile.
      actions.append(.announce(.signedOut(subject)))
    }
    for call in calls {
      guard case .signOut(let newest, let revoke) = call.kind else { continue }
      actions.append(.answer(call.id, .signedOut(revoke: revoke ? removed.all(newest: newest) : [])))
    }
    calls.removeAll(where: \.isSignOut)
    return actions
  }

  /// Takes in what came of writing an end down, or removing what was signed out; false where it is on record nowhere and
  /// has to be written again. What is on record in one place is made good for when a later look finds the file.
  private mutating func settled(_ result: Result<Void, EndNotWritten>, at now: Timestamp) -> Bool {
    writing.underWay -= 1
    switch result {
    case .success:
      writing.succeeded()
      looking.wasFruitful()
      onDisk = nil
    case .failure(.nowhere(let accessFailure)):
      if case .ending = credentialState {
        writing.failed(accessFailure, at: now, share: random.share())
        return false
      }
      writing.lastFailure = accessFailure
      looking.wasFruitless(at: now)
    case .failure(.partly(let accessFailure)):
      writing.lastFailure = accessFailure
      looking.wasFruitless(at: now)
    }
    return true
  }

  /// Told now, it would be undone by a crash. Who signs out hears that it is not done yet; the provider is told already.
  private mutating func endNowhere() -> [SessionAction] {
    guard !writing.isWriting, let accessFailure = writing.lastFailure else { return [] }
    var actions: [SessionAction] = []
    if writing.failures == 1 { actions.append(.announce(.credentialPendingWrite(accessFailure))) }
    for call in calls {
      guard case .signOut(let newest, let revoke) = call.kind else { continue }
      if revoke, let newest { actions.append(.revoke(newest)) }
      let refusal = SessionRejection.refreshUnavailable(message: endFailure ?? accessFailure.detail, retryAfter: nil)
      actions.append(.answer(call.id, .refused(refusal)))
    }
    calls.removeAll(where: \.isSignOut)
    return actions
  }
}

extension RemovedCredentials {
  /// All that is to be revoked. `newest`: what was in memory; what lay on the disk is that one, or an older one of the
  /// same sign-in.
  fileprivate func all(newest: Credential?) -> [Credential] {
    let own = newest ?? current
    let marks = own.map { GrantMarks($0.grant) }
    return (own.map { [$0] } ?? []) + former.filter { GrantMarks($0.grant) != marks }
  }
}

extension WaitingCall {
  fileprivate var isSignOut: Bool {
    if case .signOut = kind { true } else { false }
  }
}

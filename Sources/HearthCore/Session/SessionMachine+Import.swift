/// Handles the grants of imports and sign-ins. Once a grant has been requested, the session waits for the response even
/// if the grant is no longer wanted, so that it can revoke an unused grant.
extension SessionMachine {
  mutating func adopt(_ imported: IncomingGrant, for id: CallID, at now: Timestamp) -> [SessionAction] {
    incoming[id] = imported
    return makeRoom(for: id, at: now)
  }

  mutating func makeRoom(for id: CallID, at now: Timestamp) -> [SessionAction] {
    calls.add(id, .room, at: now)
    return [.makeRoom(id)]
  }

  mutating func roomMade(_ id: CallID, _ result: Result<Void, AccessFailure>, at now: Timestamp) -> [SessionAction] {
    guard calls.isMakingRoom(for: id) else {
      return incoming[id]?.isAnswered == true ? drop(id, .superseded(account)) : []
    }
    calls.remove([id])
    if let signIn = signIns[id], signIn.isBeginning {
      guard case .failure(let failure) = result else { return begin(signIn, id, at: now) }
      return end(id, unwritable(failure, at: now))
    }
    guard let grant = incoming[id] else { return [] }
    if isSuperseded(grant) { return drop(id, .superseded(account)) }
    guard case .failure(let failure) = result else { return [.obtain(id, code: signIns[id]?.code)] }
    // A device sign-in polls the provider again later, because the disk may have space by then.
    guard signIns[id]?.flow == .device else { return drop(id, unwritable(failure, at: now)) }
    return notYet(id, .unanswered(message: "Hearth cannot store the credential: \(failure.detail)."), at: now)
  }

  mutating func obtained(
    _ id: CallID, _ result: Result<GrantAnswer?, SignInFailure>, at now: Timestamp
  ) -> [SessionAction] {
    guard let grant = incoming[id] else { return [] }
    switch result {
    case .success(.granted(let response)):
      if let error = response.error { return drop(id, Failure(error, account)) }
      incoming[id]?.brings(response, as: settings.bearer, at: now)
      return incoming[id]?.credential.map { [.complete(id, $0)] } ?? []
    case .success(.notYet(let answer)): return notYet(id, answer, at: now)
    case .success(nil): return grant.credential.map { [.complete(id, $0)] } ?? []
    case .failure(.refresh(let failure)) where failure.isRepeated(again: grant.isRepeated) && !isSuperseded(grant):
      incoming[id]?.asksAgain()
      return makeRoom(for: id, at: now)
    case .failure(let failure):
      if case .unusable(let response, _) = failure { incoming[id]?.brings(response, as: settings.bearer, at: now) }
      return drop(id, Failure(failure, account))
    }
  }

  /// Returns the failure for a new grant that cannot be stored.
  private func unwritable(_ accessFailure: AccessFailure, at now: Timestamp) -> Failure {
    if case .locked = state(at: now) { Failure(accessFailure, account) } else { .unwritable(accessFailure, account) }
  }

  private mutating func notYet(_ id: CallID, _ answer: DevicePolling.Answer, at now: Timestamp) -> [SessionAction] {
    incoming[id] = nil
    return signIns[id]?.notYet(answer, at: now).map { end(id, $0) } ?? []
  }

  mutating func completed(_ id: CallID, _ known: Credential, at now: Timestamp) -> [SessionAction] {
    incoming[id]?.complete(by: known, orAt: settings.binding?.origin)
    guard let grant = incoming[id], let credential = grant.credential else { return [] }
    if grant.isAnswered || isSuperseded(grant) { return drop(id, .superseded(account)) }
    if let signIn = signIns[id], let lock = lock(against: signIn, at: now) { return drop(id, lock) }
    let unlocks = (signIns[id]?.since ?? grant.since).userLocks == epoch.userLocks
    incoming[id] = nil
    signIns[id]?.lands()
    let superseded = calls.supersedeAdoptions(of: account)
    calls.add(id, .adoption, at: now)
    if grant.since.provider == epoch.provider, let origin = credential.origin { settings.binding?.resolve(to: origin) }
    return superseded + adopt(credential, grant.timing, unlocks: unlocks, isFresh: grant.isFresh, at: now)
  }

  /// Rejects the calls whose grants are superseded, without waiting for the provider's response.
  mutating func answerSuperseded() -> [SessionAction] {
    incoming.filter { !$0.value.isAnswered && isSuperseded($0.value) }.keys.flatMap { end($0, .superseded(account)) }
  }

  /// Returns whether another sign-in, a sign-out or another program's grant has replaced the session since the request.
  private func isSuperseded(_ grant: IncomingGrant) -> Bool { grant.since.generation != epoch.generation }

  private mutating func drop(_ id: CallID, _ why: Failure) -> [SessionAction] {
    guard let grant = incoming.removeValue(forKey: id) else { return [] }
    let answer = grant.isAnswered ? [] : end(id, why)
    guard grant.isFresh, let credential = grant.credential else { return answer }
    return answer + [.revoke(credential)]
  }
}

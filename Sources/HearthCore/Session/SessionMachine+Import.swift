/// Handles the grants of imports and sign-ins. Once a grant has been requested, the session waits for the response even
/// if the grant is no longer wanted, so that it can revoke an unused grant.
extension SessionMachine {
  mutating func obtain(_ source: GrantSource, for id: CallID, at now: Timestamp) -> [SessionAction] {
    let grant = IncomingGrant(source, in: epoch)
    if let lock = lock(against: grant, at: now) { return [.answer(id, .rejected(.state(lock)))] }
    incoming[id] = grant
    return makeRoom(for: id, at: now)
  }

  private mutating func makeRoom(for id: CallID, at now: Timestamp) -> [SessionAction] {
    calls.add(id, .room, at: now)
    return [.makeRoom(id)]
  }

  mutating func roomMade(_ id: CallID, _ result: Result<Void, AccessFailure>) -> [SessionAction] {
    guard let grant = incoming[id] else { return [] }
    calls.remove([id])
    if isSuperseded(grant) { return drop(id, .superseded) }
    if case .failure(let failure) = result { return drop(id, .storage(failure)) }
    return [.obtain(id)]
  }

  mutating func obtained(
    _ id: CallID, _ result: Result<TokenResponse?, SessionRejection>, at now: Timestamp
  ) -> [SessionAction] {
    guard let grant = incoming[id] else { return [] }
    switch result {
    case .success(let response):
      if let error = response?.error { return drop(id, .provider(error)) }
      if let response { incoming[id]?.brings(response, as: settings.bearer, at: now) }
      return incoming[id]?.credential.map { [.complete(id, $0)] } ?? []
    case .failure(.provider(let failure)) where failure.isRepeated(again: grant.isRepeated) && !isSuperseded(grant):
      incoming[id]?.isRepeated = true
      return makeRoom(for: id, at: now)
    case .failure(.signIn(.unusable(let response, let message))):
      incoming[id]?.brings(response, as: settings.bearer, at: now)
      return drop(id, .signIn(.failed(message: message)))
    case .failure(let rejection): return drop(id, rejection)
    }
  }

  mutating func completed(_ id: CallID, _ known: Credential, isWanted: Bool, at now: Timestamp) -> [SessionAction] {
    incoming[id]?.complete(by: known, orAt: settings.binding?.origin)
    guard let grant = incoming[id], let credential = grant.credential else { return [] }
    if !isWanted || isSuperseded(grant) { return drop(id, .superseded) }
    if let lock = lock(against: grant, at: now) { return drop(id, .state(lock)) }
    incoming[id] = nil
    let superseded = calls.supersedeAdoptions()
    calls.add(id, .adoption, at: now)
    if grant.since.provider == epoch.provider, let origin = credential.origin { settings.binding?.resolve(to: origin) }
    let unlocks = grant.since.userLocks == epoch.userLocks
    return superseded + adopt(credential, grant.timing, unlocks: unlocks, isFresh: grant.isFresh, at: now)
  }

  /// Rejects the calls whose grants are superseded, without waiting for the provider's response.
  mutating func answerSuperseded() -> [SessionAction] {
    let superseded = incoming.filter { !$0.value.isAnswered && isSuperseded($0.value) }.map(\.key)
    for id in superseded { incoming[id]?.isAnswered = true }
    calls.remove(superseded)
    return superseded.map { .answer($0, .rejected(.superseded)) }
  }

  /// Returns whether another sign-in, a sign-out or another program's grant has replaced the session since the call.
  private func isSuperseded(_ grant: IncomingGrant) -> Bool { grant.since.generation != epoch.generation }

  private func lock(against grant: IncomingGrant, at now: Timestamp) -> SessionState? {
    guard case .signIn(let begun, replacesLocked: false) = grant.source else { return nil }
    return lock(since: begun, at: now)
  }

  private mutating func drop(_ id: CallID, _ why: SessionRejection) -> [SessionAction] {
    guard let grant = incoming.removeValue(forKey: id) else { return [] }
    let answer: [SessionAction] = grant.isAnswered ? [] : [.answer(id, .rejected(why))]
    guard grant.isFresh, let credential = grant.credential else { return answer }
    return answer + [.revoke(credential)]
  }
}

/// The grant of an import or a sign-in, before it is written.
struct IncomingGrant: Hashable, Sendable {
  let source: GrantSource
  /// The epoch in which the grant was requested. It decides what supersedes the grant and which lock the grant removes.
  let since: SessionEpoch
  /// The grant that was imported or that the provider has issued. `nil` until a sign-in receives its grant.
  private(set) var credential: Credential?
  private(set) var timing = GrantTiming.counted
  /// Whether a provider has just issued the grant.
  private(set) var isFresh = false
  /// Whether the grant was requested again, because the first response was lost.
  var isRepeated = false
  /// Whether the call was already rejected because the grant is superseded.
  var isAnswered = false

  init(_ source: GrantSource, in epoch: SessionEpoch) {
    self.source = source
    switch source {
    case .imported(let imported, let isCounted):
      (since, credential, timing) = (epoch, imported, isCounted ? .counted : .read)
    case .signIn(let begun, _): since = epoch.since(locksOf: begun)
    }
  }

  mutating func brings(_ response: TokenResponse, as bearer: BearerKind, at now: Timestamp) {
    credential = Credential(response, after: credential?.grant, bearer: bearer, receivedAt: now)
    (timing, isFresh) = (.counted, true)
  }

  /// Adds the user and the origins. Keeps the grant's times, because the clock may have been set in the meantime.
  mutating func complete(by known: Credential, orAt origin: Origin?) {
    credential?.subject = known.subject
    credential?.origin = known.origin ?? origin
    credential?.origins = known.origins
  }

  /// Adjusts the grant's times after the clock was set.
  mutating func move(by step: Duration) {
    guard var grant = credential?.grant else { return }
    timing.move(&grant, by: step)
    credential?.grant = grant
  }
}

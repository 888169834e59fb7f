import HearthCore
import HearthRuntime
import TestSupport

/// What users, programs, the network, the system and time do.
extension OutboxSimulation {
  func disturb() throws(Violation) {
    switch number(0...48) {
    case 0...9: handIn()
    case 10: takeBack()
    case 11, 12: putBack()
    case 13: pauseOrResume()
    case 14: flush(chances(1, in: 2) ? nil : accounts.randomElement(using: &random)?.name)
    case 15, 16: useSession()
    case 17: signOut()
    case 18, 19, 45...47: signIn()
    case 20: lock()
    case 21, 22: unlock()
    case 23: isOnline = false
    case 24, 25: networkReturns()
    case 26, 27, 40...44: changeOrigin()
    case 28: for origin in origins.keys { origins[origin] = .fine }
    case 29:
      accounts.randomElement(using: &random)?.mood =
        SimulatedAccount.Mood.allCases.randomElement(using: &random) ?? .fine
    case 30: for account in accounts { account.mood = .fine }
    case 31, 32:
      try crash()
      return try start()
    case 33:
      try stop()
      return try start()
    case 34: stepClock(by: .seconds(number(-100_000...100_000) / (chances(1, in: 2) ? 1 : 1000)))
    case 35: suspend()
    case 36: jump(.seconds(number(0...7200)))
    case 37: disk = [.fine, .full, .broken].randomElement(using: &random) ?? .fine
    case 38: changeCredentialDisk()
    default: revoke()
    }
    try settle()
  }

  // MARK: - Clients of the outbox

  /// A client calls; what comes of it is heard by nobody where the daemon goes first.
  func call(_ kind: OpenCall.Kind, _ body: @escaping @Sendable (SimulatedDaemon) async -> Void) {
    guard let daemon else { return }
    lastCall += 1
    let id = lastCall
    note("call \(id): \(kind)")
    calls[id] = OpenCall(kind: kind, askedAt: elapsed, looseness: looseness)
    executor.begin {
      await body(daemon)
      if self.lives(daemon.number) { self.calls[id] = nil }
    }
  }

  private func handIn() {
    let fresh = (0..<number(1...4)).map { _ in write() }
    // Some clients do not know whether they have handed it in.
    let again = trackedRequests.filter { $0.draft.idempotencyKey != nil }.randomElement(using: &random)
    let chosen = chances(1, in: 6) ? again.map { [$0] } ?? fresh : fresh
    for trackedRequest in fresh { trackedRequests.append(trackedRequest) }
    for trackedRequest in chosen { trackedRequest.open += 1 }
    let numbers = chosen.map(\.number)
    let drafts = chosen.map(\.draft)
    call(.enqueue(trackedRequests: numbers, replaceKeys: Set(drafts.compactMap(\.replaceKey)))) { daemon in
      do {
        let receipts = try await daemon.outbox.enqueueMany(drafts)
        self.accepted(numbers, receipts, daemon.number)
      } catch {
        guard self.lives(daemon.number) else { return }
        self.note("refused: \(error)")
        for number in numbers { self.trackedRequests[number].open -= 1 }
      }
    }
  }

  private func accepted(_ numbers: [Int], _ receipts: [OutboxReceipt], _ daemon: Int) {
    guard lives(daemon) else { return }
    for (number, receipt) in zip(numbers, receipts) {
      let trackedRequest = trackedRequests[number]
      trackedRequest.open -= 1
      if receipt.isDuplicate, !trackedRequest.ids.contains(receipt.item.id) {
        violated("request \(number) is called a duplicate of \(receipt.item.id), which it is not")
      }
      trackedRequest.ids.insert(receipt.item.id)
      trackedRequest.acknowledged.insert(receipt.item.id)
      note("accepted \(number) as \(receipt.item.id), duplicate \(receipt.isDuplicate)")
      isChanged = true
    }
  }

  private func write() -> TrackedRequest {
    let number = lastWritten
    lastWritten += 1
    let account = accounts.randomElement(using: &random)?.name ?? Sample.work
    let method = ["POST", "POST", "POST", "POST", "PATCH", "PUT", "DELETE", "GET"].randomElement(using: &random)
    let notBefore = chances(1, in: 8) ? now + .seconds(self.number(0...1800)) : nil
    let expiresAt = chances(1, in: 6) ? (notBefore ?? now) + .seconds(self.number(1...3600)) : nil
    let lane: String? = ["caf\u{E9}", "caf\u{E9}", "cafe\u{301}", nil].randomElement(using: &random) ?? nil
    let origin = chances(3, in: 4) ? Sample.origin : Sample.secondOrigin
    return TrackedRequest(
      number,
      Sample.draft(
        "/requests/\(number)", account: account, method: method ?? "POST", body: "body \(number)", lane: lane,
        key: chances(1, in: 3) ? "key-\(number)" : nil,
        replaceKey: chances(1, in: 6) ? ["\u{C5}", "A\u{30A}"].randomElement(using: &random) : nil,
        notBefore: notBefore,
        expiresAt: expiresAt, origin: origin.description))
  }

  private func someItem(_ isWanted: (OutboxItem) -> Bool = { _ in true }) -> OutboxItem? {
    order.compactMap { rows[$0] }.filter(isWanted).randomElement(using: &random)
  }

  private func takeBack() {
    guard let item = someItem() else { return }
    if chances(1, in: 4) {
      let state = [OutboxItem.State.pending, .waiting, .dead, .held].randomElement(using: &random) ?? .dead
      call(.changeAll(item.account, state, .cancel)) { _ = try? await $0.outbox.cancelAll(item.account, in: state) }
    } else {
      call(.cancel(id: item.id)) { _ = try? await $0.outbox.cancel(item.id) }
    }
  }

  private func putBack() {
    guard let item = someItem({ $0.state == .dead || $0.state == .held }) else { return }
    if chances(1, in: 4) {
      call(.changeAll(item.account, item.state, .retry)) {
        _ = try? await $0.outbox.retryAll(item.account, in: item.state)
      }
    } else {
      call(.retry(id: item.id)) { _ = try? await $0.outbox.retry(item.id) }
    }
  }

  private func pauseOrResume() {
    let chosen = chances(1, in: 3) ? nil : accounts.randomElement(using: &random)?.name
    if chances(1, in: 3) {
      let resumes = accounts.map(\.resumes)
      call(.pause(chosen, true)) { daemon in
        guard (try? await daemon.outbox.pause(chosen)) != nil, self.lives(daemon.number) else { return }
        // A resume beside it may have come after it.
        let isAlone =
          self.calls.values.filter(\.isPause).count == 1 && resumes == self.accounts.map(\.resumes)
        for account in self.accounts where isAlone && (chosen == nil || account.name == chosen) {
          account.isPaused = true
        }
      }
    } else {
      resume(chosen)
    }
  }

  func resume(_ chosen: AccountName?) {
    for account in accounts where chosen == nil || account.name == chosen {
      account.isPaused = false
      account.resumes += 1
    }
    call(.pause(chosen, false)) { _ = try? await $0.outbox.resume(chosen) }
  }

  func flush(_ chosen: AccountName?) {
    let timeout = Duration.seconds(number(0...60))
    call(.flush) { _ = try? await $0.outbox.flush(chosen, timeout: timeout) }
  }

  /// Their waits do not count any more; those of another user's requests, which are held, do. A token that was refused
  /// may be tried once more.
  func areHastened(_ items: Set<OutboxItem>, of name: AccountName) {
    for item in items { trackedRequest(of: item)?.floor = .zero }
    for account in accounts where account.name == name { account.forgetsRefusals() }
  }

  // MARK: - Clients of the session

  private func useSession() {
    guard let name = accounts.randomElement(using: &random)?.name else { return }
    let isForced = chances(1, in: 2)
    call(.other) {
      guard let service = $0.services[name] else { return }
      if isForced { _ = await service.call(.refresh) } else { _ = await service.call(.token(minValidity: nil)) }
    }
  }

  private func signOut() {
    guard let account = accounts.randomElement(using: &random) else { return }
    let (discards, revokes) = (chances(1, in: 2), chances(1, in: 2))
    account.grounds.insert(.signedOut)
    let name = account.name
    call(discards ? .discard(name) : .other) { daemon in
      if discards, (try? await daemon.outbox.purge(name, of: daemon.outbox.subjects(of: name))) == nil { return }
      guard let service = daemon.services[name] else { return }
      if case .success(let signedOut) = await service.call(.signOut(revoke: revokes)) {
        for credential in signedOut.credentials { _ = await service.revoke(credential) }
      }
    }
  }

  func signIn() {
    // Mostly where it is asked for.
    let wanting = accounts.filter(needsSignIn)
    let chosen = wanting.isEmpty || chances(1, in: 8) ? accounts : wanting
    guard let account = chosen.randomElement(using: &random), isOnline else { return }
    if wanting.isEmpty, chances(1, in: 2) { return handIn() }
    signIn(account)
  }

  func signIn(_ account: SimulatedAccount) {
    let credential = signedIn(account)
    tally[.signIn] += 1
    let isTried = chances(1, in: 2)
    var grant = credential.grant
    if !isTried {
      grant.accessToken = Token(secret: Secret(""), fingerprint: grant.accessToken.fingerprint)
      grant.expiresAt = now
    }
    let imported = Credential(grant: grant, subject: nil, origin: nil)
    let name = account.name
    note("\(name): \(String(describing: credential.subject?.id)) signs in")
    call(.other) { daemon in
      guard (try? await daemon.services[name]?.adopt(imported, isTried: isTried)) != nil else { return }
      if self.lives(daemon.number) { account.locks.remove(.user) }
    }
  }

  private func lock() {
    guard let account = accounts.randomElement(using: &random) else { return }
    let lock = Lock.allCases.randomElement(using: &random) ?? .user
    account.locks.insert(lock)
    call(.other) { [name = account.name] in await $0.services[name]?.lock(lock) }
  }

  private func unlock() {
    let locked = accounts.filter { !$0.locks.isEmpty }
    guard let account = locked.randomElement(using: &random) else { return }
    for lock in Lock.allCases where account.locks.contains(lock) { unlock(account, lock) }
  }

  func unlock(_ account: SimulatedAccount, _ lock: Lock) {
    account.locks.remove(lock)
    call(.other) { [name = account.name] in _ = try? await $0.services[name]?.unlock(lock, passphrase: nil) }
  }

  // MARK: - The world

  func networkReturns() {
    isOnline = true
    for account in accounts { account.forgetsRefusals() }
    guard let daemon else { return }
    executor.begin {
      await daemon.sessions.networkReturned()
      await daemon.outbox.networkReturned()
    }
  }

  private func changeOrigin() {
    let origin = chances(1, in: 2) ? Sample.origin : Sample.secondOrigin
    origins[origin] = chances(1, in: 2) ? .flaky : OriginMood.allCases.randomElement(using: &random)
    note("\(origin) is \(String(describing: origins[origin]))")
  }

  func stepClock(by step: Duration) {
    note("the clock steps by \(step)")
    offset += step
    if step < .zero { setBack += .zero - step } else { setAhead += step }
    timeBreaks += 1
    lastBreak = elapsed
    looseness += step < .zero ? .zero - step : step
    clock.step(by: step)
  }

  private func suspend() {
    jump(.seconds(number(1...200_000)))
    clock.step(by: .zero)
  }

  /// Time passes without anybody's getting to do anything.
  private func jump(_ duration: Duration) {
    note("\(duration) pass")
    timeBreaks += 1
    looseness += duration
    pass(duration)
    lastBreak = elapsed
  }

  private func changeCredentialDisk() {
    guard let account = accounts.randomElement(using: &random) else { return }
    switch number(0...4) {
    case 0: account.disk.isDenied = true
    case 1: account.disk.isFull = true
    default: (account.disk.isDenied, account.disk.isFull) = (false, false)
    }
  }

  private func revoke() {
    guard let account = accounts.randomElement(using: &random), let held = account.disk.grant?.grant else { return }
    note("\(account.name): \(held.accessToken.fingerprint) is revoked")
    // Troubles seldom come alone.
    if chances(1, in: 2) { account.mood = .down }
    if chances(2, in: 3) {
      account.tokens[held.accessToken.fingerprint]?.isRevoked = true
    } else {
      account.provider.revoke(held.accessToken)
    }
  }
}

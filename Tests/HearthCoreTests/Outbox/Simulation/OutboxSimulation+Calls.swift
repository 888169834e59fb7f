import TestSupport

@testable import HearthCore

/// The calls of clients, as the service carries them out.
extension OutboxSimulation {
  @discardableResult
  func call(_ kind: SimulatedCall.Kind) -> Int? {
    guard daemon != nil, !daemon!.machine.isStopping else { return nil }
    tally[.call] += 1
    daemon!.lastCall += 1
    let id = daemon!.lastCall
    note("call \(id): \(describe(kind))")
    daemon!.calls[id] = SimulatedCall(kind: kind)
    at(storeTime(), .callDone(id))
    return id
  }

  private func describe(_ kind: SimulatedCall.Kind) -> String {
    switch kind {
    case .enqueue(let new):
      let texts = new.map {
        "\($0.id) \($0.draft.account) \($0.draft.isUnordered ? "-" : $0.draft.lane) \($0.url.origin.host)"
          + " \($0.subject?.id ?? "nobody") \($0.draft.replaceKey ?? "")"
      }
      return "enqueues \(texts.prefix(8))"
    case .change, .changeAll, .pause, .flush, .purge: return "\(kind)"
    }
  }

  // MARK: - What is called

  func enqueue() {
    let drafts = (0..<number(isQuick ? 5...30 : 1...4)).map { _ in draft() }
    enqueue(drafts)
  }

  func enqueue(_ drafts: [OutboxDraft]) {
    guard daemon != nil else { return }
    var new: [NewOutboxItem] = []
    for draft in drafts {
      guard let url = try? HTTPURL(draft.url), daemon!.machine.names.contains(draft.account),
        daemon!.machine.accounts[draft.account]?.api.origins.contains(url.origin) == true
      else { continue }
      // Callers mostly wait for the session.
      guard daemon!.machine.isSessionReported(draft.account) || chances(1, in: 8) else { continue }
      lastItem += 1
      let subject = daemon!.machine.knownSubject(of: draft.account)
      new.append(NewOutboxItem(id: "i\(lastItem)", draft: draft, url: url, subject: subject))
    }
    if !new.isEmpty { call(.enqueue(new)) }
  }

  private func draft() -> OutboxDraft {
    let notBefore = chances(1, in: 10) ? now + .seconds(number(0...300)) : nil
    let expiresAt = chances(1, in: 8) ? (notBefore ?? now) + .seconds(number(1...1800)) : nil
    let lane: Name? = one(of: ["caf\u{E9}", "caf\u{E9}", "cafe\u{301}", nil])
    let isLarge = hasLargeItems && chances(1, in: 2)
    var draft = OutboxDraft(
      account: one(of: sessions.keys.sorted()), method: one(of: ["POST", "POST", "POST", "PATCH", "PUT", "GET"]),
      url: "\(one(of: Self.apis + [Self.apis[0]]))/items", body: isLarge ? Self.large : [0x61],
      lane: lane ?? "default", isUnordered: lane == nil)
    (draft.notBefore, draft.expiresAt) = (notBefore, expiresAt)
    if chances(1, in: 6) { draft.idempotencyKey = "key-\(number(0...3))" }
    if chances(1, in: 6) { draft.replaceKey = one(of: ["\u{C5}", "A\u{30A}"]) }
    return draft
  }

  /// Many lanes for one API, and one for another behind them.
  func enqueueMany() {
    let name = one(of: sessions.keys.sorted())
    let origin = one(of: Self.apis)
    if chances(2, in: 3) { origins[origin]!.mood = .hung }
    note("\(origin.host) is \(origins[origin]!.mood)")
    let drafts = (0..<number(70...90)).map { place in
      OutboxDraft(account: name, method: "POST", url: "\(origin)/many", lane: "many-\(place)")
    }
    let other = OutboxDraft(account: name, method: "POST", url: "\(Self.apis[0])/one", lane: "one")
    enqueue(drafts + [other])
  }

  func changeItem() {
    guard !items.isEmpty else { return }
    let chosen = items[one(of: items.keys.sorted())]!
    guard let item = model.items[chosen.number] else { return }
    let isEnded =
      item.progress.state == .dead || item.progress.state == .held || model.subject(of: item) == .unnamedBefore
    call(.change(id: item.new.id, isEnded && chances(3, in: 4) ? .retry : .cancel))
  }

  func pause(_ isPaused: Bool, _ names: Set<AccountName>? = nil) {
    guard daemon != nil, !daemon!.machine.isStopping else { return }
    let chosen = names ?? (chances(1, in: 3) ? Set(configured.keys) : [one(of: sessions.keys.sorted())])
    let number = daemon!.machine.nextPauseNumber()
    if !isPaused {
      paused.subtract(chosen)
      for name in chosen { daemon!.resumes[name] = number }
    }
    call(.pause(chosen, isPaused, number: number))
  }

  func flush(_ names: Set<AccountName>, timeout: Int) {
    guard daemon != nil, !daemon!.machine.isStopping else { return }
    let chosen = names.filter { daemon!.machine.names.contains($0) && daemon!.machine.mayBeSendable($0) }
    if !chosen.isEmpty { call(.flush(chosen, timeout: timeout)) }
  }

  func discard() {
    let name = one(of: sessions.keys.sorted())
    guard daemon != nil, daemon!.machine.names.contains(name), !daemon!.machine.isStopping else { return }
    let (user, subjects) = (daemon!.machine.knownSubject(of: name), daemon!.machine.subjects(of: name))
    daemon!.machine.discarding(name, at: now)
    call(.purge(name, of: subjects, user: user, signsOut: chances(1, in: 2)))
    follow()
  }

  // MARK: - What the store does

  func callDone(_ id: Int) {
    guard var call = daemon?.calls[id] else { return }
    if isDiskFailing, chances(1, in: 2) {
      call.hasFailed = true
      tally[.storeFailure] += 1
    } else {
      do throws(OutboxStoreFailure) {
        try carryOut(&call, at: storeActs())
      } catch {
        note("call \(id) fails: \(error)")
        call.hasFailed = true
      }
      publish()
    }
    daemon?.calls[id] = call
    if !call.hasFailed, case .purge(_, let subjects, _, _) = call.kind, call.purged < subjects.count {
      return at(storeTime(), .callDone(id))
    }
    after(0...(chances(1, in: 4) ? 5 : 0), .callAnswered(id))
  }

  private func carryOut(_ call: inout SimulatedCall, at now: Timestamp) throws(OutboxStoreFailure) {
    switch call.kind {
    case .enqueue(let new):
      call.receipts = try model.enqueue(new, within: settings, at: now)
      for item in model.items.values where items[item.number] == nil {
        items[item.number] = TrackedItem(item.number, user: user(of: item.new.subject, item.account))
        items[item.number]!.isUnwelcome = !isHealed && item.number.isMultiple(of: 29)
        items[item.number]!.isBarred = item.number % 23 == 1
      }
      let ids = Set(call.receipts.map(\.item.id))
      note("items \(model.items.values.filter { ids.contains($0.new.id) }.map(\.number).sorted())")
    case .change(let id, let change): _ = try model.change(id, change, at: now)
    case .changeAll(let name, let state, let change):
      _ = model.changeAll(of: name, in: state, change, limit: OutboxMachine.batch, at: now)
    case .pause(let names, let isPaused, _): model.setPaused(names, isPaused)
    case .flush(let names, _):
      for name in names.sorted() { _ = model.retryNow(name, limit: OutboxMachine.batch, at: now) }
      for item in items.values { item.floor = 0 }
    case .purge(let name, let subjects, _, _):
      let subject = subjects[call.purged]
      call.lastItem = call.lastItem ?? model.items.keys.max() ?? 0
      if call.purgedAt == nil { (call.purgedAt, call.lastUser) = (elapsed, model.current[name]) }
      let count = model.purge(name, of: subject, limit: OutboxMachine.batch, at: now)
      note("\(count) items of \(subject?.id ?? "nobody") are discarded")
      call.purged += 1
    }
  }

  // MARK: - What is answered

  func callAnswered(_ id: Int) {
    guard let call = daemon?.calls.removeValue(forKey: id) else { return }
    note("call \(id) is answered")
    switch call.kind {
    case .enqueue(let new):
      guard !call.hasFailed else { return }
      daemon!.machine.enqueued(
        call.receipts, expiring: new.compactMap(\.draft.expiresAt).min(),
        mayReplace: new.contains { $0.draft.replaceKey != nil }, at: now)
    case .change(let id, .retry):
      // Nobody can tell any more whose item it was.
      if let item = model.item(id), item.subject == nil { daemon!.machine.madeNobodys(item.account) }
    case .changeAll(let name, _, .retry): daemon!.machine.madeNobodys(name)
    case .change, .changeAll: return
    case .pause(let names, let isPaused, let number):
      guard !call.hasFailed else { return }
      daemon!.machine.paused(names, isPaused, number: number, at: now)
      if isPaused { paused.formUnion(names.filter { daemon!.resumes[$0] ?? 0 < number }) }
      disturbed()
    case .flush(let names, let timeout):
      guard !call.hasFailed else { return }
      for name in names { daemon!.machine.retryNow(name, at: now) }
      guard !daemon!.machine.isStopping else { break }
      daemon!.flushes[id] = SimulatedFlush(
        accounts: names, begunAt: elapsed, lastItem: model.items.keys.max() ?? 0)
      at(elapsed + timeout, .flushTimedOut(id))
      tally[.flush] += 1
    case .purge(let name, _, let user, let signsOut):
      daemon!.machine.discarded(name, at: now)
      disturbed()
      if !call.hasFailed {
        checkDiscarded(name, user, call)
        if signsOut { change(name) { $0.state = .signedOut } }
      }
    }
    follow()
  }
}

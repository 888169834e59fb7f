import TestSupport

@testable import HearthCore

/// In the end everything works again: everything deliverable is delivered, and the daemon stops.
extension OutboxSimulation {
  private static let hour = 3_600_000

  func heal() throws(Violation) {
    note("all is well again")
    isHealed = true
    for origin in Self.apis { (origins[origin]!.mood, origins[origin]!.clockError) = (.fine, 0) }
    for item in items.values { item.isUnwelcome = false }
    (isDiskFailing, slowestDisk, settings.concurrency) = (false, 4, max(settings.concurrency, 2))
    for name in sessions.keys { sessions[name]!.mood = .fine }
    try wait(Self.hour) { self.daemon != nil && !self.daemon!.machine.isStopping }
    stepClock(by: -offset)
    for name in sessions.keys { configured[name] = Set(Self.apis) }
    reloaded()
    networkReturns()
    try wait(10_000) { self.daemon!.machine.isSessionReported(self.sessions.keys.sorted()[0]) }
    pause(false, Set(sessions.keys))
    for user in Self.users { try deliver(as: user) }
    if chances(1, in: 25) { try hang() }
    if chances(1, in: 8) { try drop() }
    try endQuietly()
  }

  private func deliver(as user: Name) throws(Violation) {
    for name in sessions.keys.sorted() where sessions[name]!.isNamed || user == Self.users[0] { signIn(name, as: user) }
    try wait(10_000) { self.daemon!.calls.isEmpty }
    cancelLate()
    try wait(Self.hour) { self.daemon!.calls.isEmpty && self.isDelivered }
    if !isDelivered {
      // A step of the clock that no daemon survived to report makes a wait longer, by at most a day.
      if untoldSteps == 0 { violated("\(left) are not delivered in an hour") }
      flush(Set(configured.keys), timeout: Self.hour)
      try wait(Self.hour) { self.isDelivered }
    }
    if !isDelivered { violated("\(left) are never delivered") }
    try check()
  }

  /// An API answers nothing, and many lanes, large bodies and unordered items wait for it. Nothing else is delayed.
  private func hang() throws(Violation) {
    settings.maxItems = 10_000
    origins[Self.apis[1]]!.mood = .hung
    note("\(Self.apis[1].host) is hung")
    let name = Self.names[0]
    let body = chances(1, in: 4) ? Self.large : [0x61]
    func drafts(_ lane: Name, _ origin: Origin, _ account: AccountName, body: [UInt8] = [0x61]) -> [OutboxDraft] {
      [false, true].map {
        OutboxDraft(account: account, method: "POST", url: "\(origin)/hung", body: body, lane: lane, isUnordered: $0)
      }
    }
    enqueue((0..<number(20...80)).flatMap { drafts("hung-\($0)", Self.apis[1], name, body: body) })
    for wait in [2000, 36_000] {
      try self.wait(wait) { false }
      for account in sessions.keys.sorted() { enqueue(drafts("healthy", Self.apis[0], account)) }
    }
    try wait(10_000) { false }
    origins[Self.apis[1]]!.mood = .fine
    try wait(Self.hour) { self.isDelivered }
    if !isDelivered { violated("\(left) are not delivered after an API has hung") }
  }

  /// An unreachable origin is removed from the configuration. Nothing waits for it any more.
  private func drop() throws(Violation) {
    let name = Self.names[0]
    origins[Self.apis[1]]!.mood = .down
    enqueue([OutboxDraft(account: name, method: "POST", url: "\(Self.apis[1])/dropped", lane: "dropped")])
    try wait(number(100...4000)) { false }
    configured[name]!.remove(Self.apis[1])
    reloaded()
    try wait(number(0...20_000)) { false }
    flush([name], timeout: Self.hour)
    try wait(40_000) { self.daemon!.calls.isEmpty && self.daemon!.flushes.isEmpty }
    if !daemon!.flushes.isEmpty { violated("a flush waits for an origin that is not configured any more") }
    origins[Self.apis[1]]!.mood = .fine
    configured[name] = Set(Self.apis)
    reloaded()
    try wait(Self.hour) { self.isDelivered }
  }

  /// Cancels items that would wait for days because the clock was stepped since they were enqueued.
  private func cancelLate() {
    for number in model.order {
      guard let item = model.items[number], let notBefore = item.progress.notBefore,
        notBefore - storeNow > .seconds(1800)
      else { continue }
      call(.change(id: item.new.id, .cancel))
    }
  }

  /// The active items of the signed-in users.
  private var left: [Int64] {
    model.order.filter { number in
      guard let item = model.items[number] else { return false }
      let subject = model.subject(of: item)
      return subject == nil || subject == sessions[item.account]?.subject
    }
  }

  private var isDelivered: Bool { left.isEmpty }

  private func wait(_ limit: Int, until isDone: () -> Bool) throws(Violation) {
    let end = elapsed + limit
    var steps = 0
    while elapsed < end {
      steps += 1
      if steps % 8 == 1, isDone() { return }
      if needsSignIn { for name in sessions.keys.sorted() { signInAgain(name) } }
      advance(until: end)
      try check()
    }
  }

  private var needsSignIn: Bool { sessions.values.contains { $0.state != .signedIn && $0.state != .hydrating } }

  /// An earlier call may have signed it out.
  private func signInAgain(_ name: AccountName) {
    guard sessions[name]!.state != .signedIn, sessions[name]!.state != .hydrating else { return }
    signIn(name, as: sessions[name]!.user ?? Self.users[0])
  }

  /// With nothing left to send, a flush ends at once, all memory is free, and a stop ends everything.
  private func endQuietly() throws(Violation) {
    flush(Set(configured.keys), timeout: Self.hour)
    // The request of an item that was discarded may still be under way.
    try wait(40_000) {
      self.daemon!.flushes.isEmpty && self.daemon!.calls.isEmpty && self.model.claims.isEmpty && !self.isWorking
        && self.daemon!.senders.isEmpty
    }
    if !daemon!.flushes.isEmpty { violated("a flush of an empty outbox does not end") }
    if !model.claims.isEmpty { violated("\(model.claims.count) claims are left") }
    if !daemon!.senders.isEmpty { violated("the senders \(daemon!.senders.sorted()) never end") }
    daemon!.machine.retryNow(Self.names[0], at: now)
    if var machine = daemon?.machine, let work = machine.nextStoreWork(at: now) { checkMemory(work) }
    daemon!.machine.stop(grace: .zero, at: now)
    follow()
    let number = tally[.stop]
    try wait(10_000) { self.tally[.stop] > number }
    if tally[.stop] == number { violated("the daemon does not stop") }
    try check()
  }

  private var isWorking: Bool { daemon?.work != nil }
}

import HearthCore
import TestSupport
import Testing

@Suite struct ItemProgressTests {
  private static let now = Sample.start
  private static let policy = DeliveryPolicy(OutboxSettings())

  private static func wait(status: Int?, unknownFor: Duration? = nil, isConflict: Bool = false) -> DeliveryOutcome {
    .waiting(
      DeliveryOutcome.Wait(
        duration: .seconds(9), unknownFor: unknownFor, isConflict: isConflict, status: status, error: "no"))
  }

  @Test("Each attempt counts, conflicts are counted, and a result is unknown since the first request without one")
  func waits() {
    var item = ItemProgress(at: Self.now)
    item.settle(Self.wait(status: nil, unknownFor: .seconds(5)), at: Self.now)
    #expect(item.isUnanswered)
    item.settle(Self.wait(status: 409, unknownFor: .seconds(4), isConflict: true), at: Self.now)
    #expect(!item.isUnanswered)
    #expect((item.state, item.attempts, item.conflicts) == (.waiting, 2, 1))
    #expect((item.dueAt, item.nextAttemptAt) == (Self.now + .seconds(9), Self.now + .seconds(9)))
    #expect((item.unknownSince, item.lastStatus, item.lastError) == (Self.now - .seconds(5), 409, "no"))
    #expect(item.finishedAt == nil)
  }

  @Test("An attempt at an unreachable origin does not count; with a status the item waits")
  func unreachable() {
    let probeAt = Self.now + .seconds(5)
    for (status, dueAt) in [(nil, Self.now), (407, probeAt)] as [(Int?, Timestamp)] {
      var item = ItemProgress(at: Self.now)
      item.settle(.unreachable(probeIn: .seconds(5), status: status, error: "no"), at: Self.now)
      #expect((item.state, item.attempts) == (.waiting, 0))
      #expect((item.dueAt, item.nextAttemptAt) == (dueAt, probeAt))
    }
  }

  @Test("Responses of a proxy or a portal are counted until the API itself answers")
  func offlineAnswers() {
    var item = ItemProgress(at: Self.now)
    func settle(_ outcome: DeliveryOutcome) -> Int {
      item.settle(outcome, at: Self.now)
      return item.offlineAnswers
    }
    let portal = DeliveryOutcome.unreachable(probeIn: .zero, status: 511, error: "no")
    #expect(settle(portal) == 1)
    #expect(settle(.unreachable(probeIn: .zero, status: nil, error: "no")) == 1)
    #expect(settle(Self.wait(status: nil, unknownFor: .zero)) == 1)
    #expect(settle(portal) == 2)
    #expect(settle(Self.wait(status: 503)) == 0)
  }

  @Test("An item that is released stays unchanged", arguments: [OutboxItem.State.pending, .waiting])
  func released(_ state: OutboxItem.State) {
    var item = ItemProgress(state: state)
    item.nextAttemptAt = state == .waiting ? Self.now : nil
    let before = item
    item.settle(.released, at: Self.now)
    #expect(item == before)
  }

  @Test("The last attempt of a dead item counts if the server answered, or if there were too many attempts")
  func dead() {
    for (reason, status, attempts) in [
      (.rejected, 400, 1), (.attemptsExhausted, nil, 1), (.expired, nil, 0),
    ] as [(OutboxItem.Reason, Int?, Int)] {
      var item = ItemProgress(at: Self.now)
      item.settle(.dead(reason, status: status, error: "no"), at: Self.now)
      #expect((item.state, item.reason, item.attempts) == (.dead, reason, attempts))
      #expect((item.finishedAt, item.nextAttemptAt, item.lastError) == (Self.now, nil, "no"))
    }
  }

  @Test("An item that is held in its place continues there unchanged, and no attempt counts")
  func heldInPlace() {
    var waiting = ItemProgress(state: .waiting)
    (waiting.attempts, waiting.unknownSince, waiting.dueAt) = (3, Self.now, Self.now)
    waiting.hold(.originNotConfigured)
    #expect(waiting.isHeldInPlace && waiting.isActive && !waiting.state.isActive)
    let isFreed = waiting.retry(at: Self.now)
    #expect(isFreed)
    #expect((waiting.state, waiting.reason, waiting.attempts, waiting.unknownSince) == (.pending, nil, 3, Self.now))
    #expect((waiting.dueAt, waiting.nextAttemptAt) == (nil, nil))
    var item = ItemProgress(at: Self.now)
    item.settle(.needsStepUp(status: 401, error: "no"), at: Self.now)
    #expect((item.reason, item.attempts, item.lastStatus, item.lastError) == (.needsStepUp, 0, 401, "no"))
    #expect(item.isHeldInPlace)
    item.leaveLane(.needsReview, at: Self.now)
    #expect(!item.isActive)
    let goesOn = item.goOn(at: Self.now)
    #expect(!goesOn)
  }

  @Test("A lost item is due at once, and its result is unknown since the first loss")
  func lost() {
    var item = ItemProgress(notBefore: Self.now + .seconds(1), at: Self.now)
    #expect((item.state, item.dueAt) == (.waiting, Self.now + .seconds(1)))
    item.lost(since: Self.now + .seconds(2))
    item.lost(since: Self.now + .seconds(3))
    #expect((item.state, item.dueAt, item.unknownSince) == (.pending, nil, Self.now + .seconds(2)))
    #expect(item.lastError == "The daemon stopped while the request was in flight.")
  }

  @Test("After the horizon a POST with an unknown result needs review, and a PUT does not")
  func horizon() {
    var item = ItemProgress(at: Self.now)
    item.lost(since: Self.now)
    let late = Self.now + .seconds(24 * 3600 + 1)
    func eligibility(_ method: String, _ now: Timestamp) -> ItemProgress.Eligibility {
      item.eligibility(method: method, policy: Self.policy, expiry: .agreed(now), at: now)
    }
    #expect(eligibility("POST", Self.now + .seconds(24 * 3600)) == .sendable)
    #expect(eligibility("POST", late) == .leaves(.needsReview))
    #expect(eligibility("PUT", late) == .sendable)
    item.leaveLane(.needsReview, at: late)
    #expect((item.state, item.reason, item.finishedAt) == (.held, .needsReview, nil))
    let unknown = "Since \(Self.now), Hearth has not known whether the request took effect (The daemon stopped"
    #expect(item.lastError?.hasPrefix(unknown) == true)
  }

  @Test("An item has expired only by a time that servers confirm")
  func expiry() {
    let item = ItemProgress(expiresAt: Self.now, at: Self.now)
    func eligibility(_ expiry: ExpiryTime) -> ItemProgress.Eligibility {
      item.eligibility(method: "POST", policy: Self.policy, expiry: expiry, at: Self.now)
    }
    #expect(eligibility(.unconfirmed(Self.now - .seconds(1))) == .sendable)
    #expect(eligibility(.unconfirmed(Self.now)) == .timeNeeded)
    #expect(eligibility(.agreed(Self.now - .seconds(1))) == .sendable)
    #expect(eligibility(.agreed(Self.now)) == .leaves(.expired))
  }

  @Test("Only a dead or held item is retried, and starts again", arguments: OutboxItem.State.allCases)
  func retry(_ state: OutboxItem.State) {
    var item = ItemProgress(state: state)
    (item.attempts, item.conflicts, item.unknownSince, item.expiresAt) = (3, 2, Self.now, Self.now)
    (item.reason, item.finishedAt, item.lastStatus, item.lastError) = (.rejected, Self.now, 503, "no")
    let before = item
    guard state == .dead || state == .held else {
      let isRetried = item.retry(at: Self.now)
      #expect(!isRetried && item == before)
      return
    }
    let isRetried = item.retry(at: Self.now)
    #expect(isRetried)
    var fresh = ItemProgress(state: .pending)
    (fresh.expiresAt, fresh.hasLeft, fresh.lastStatus, fresh.lastError) = (Self.now, true, 503, "no")
    #expect(item == fresh)
  }

  @Test(
    "A retry changes neither an item's notBefore nor its expiresAt",
    arguments: [OutboxItem.Reason.needsReview, .originNotConfigured, .rejected])
  func retryEarly(_ reason: OutboxItem.Reason) {
    let (start, end) = (Self.now + .seconds(60), Self.now + .seconds(90))
    var item = ItemProgress(notBefore: start, expiresAt: end, at: Self.now)
    item.leaveLane(reason, at: Self.now)
    let isRetried = item.retry(at: Self.now)
    #expect(isRetried)
    #expect((item.state, item.dueAt, item.nextAttemptAt, item.expiresAt) == (.waiting, start, start, end))
  }

  @Test("An expired item is not retried")
  func retryExpired() {
    var item = ItemProgress(expiresAt: Self.now, at: Self.now)
    item.leaveLane(.expired, at: Self.now)
    let before = item
    let isRetried = item.retry(at: Self.now)
    #expect(!isRetried && item == before)
  }

  @Test("An item that has ended is not cancelled", arguments: OutboxItem.State.allCases)
  func cancel(_ state: OutboxItem.State) {
    var item = ItemProgress(state: state)
    item.reason = .needsReview
    let isCancelled = item.cancel(at: Self.now)
    #expect(isCancelled == state.mayBeCancelled)
    if isCancelled { #expect((item.state, item.reason, item.finishedAt) == (.cancelled, nil, Self.now)) }
  }

  @Test("A retry is made due now, but not before its notBefore")
  func retryNow() {
    var item = ItemProgress(at: Self.now)
    var hasChanged = item.retryNow(at: Self.now)
    #expect(!hasChanged)
    item.settle(Self.wait(status: 503), at: Self.now)
    item.notBefore = Self.now + .seconds(2)
    hasChanged = item.retryNow(at: Self.now)
    #expect(hasChanged)
    #expect((item.dueAt, item.nextAttemptAt) == (Self.now + .seconds(2), Self.now + .seconds(2)))
    hasChanged = item.retryNow(at: Self.now)
    #expect(!hasChanged)
  }
}

import TestSupport
import Testing

@testable import HearthCore

/// The configuration is reloaded while the outbox works.
@Suite("After a reload the outbox's machine") struct OutboxReloadTests {
  private func reload(
    _ outbox: inout OutboxScript, to origins: APISettings = [Sample.origin, Sample.secondOrigin],
    _ change: (inout OutboxSettings) -> Void = { _ in }
  ) {
    var settings = OutboxSettings()
    change(&settings)
    outbox.machine.accountsChanged([Sample.work: origins], settings: settings, at: outbox.now)
  }

  /// The first origin is unreachable. Returns how long it is left alone.
  private func wait(_ outbox: inout OutboxScript) throws -> Duration {
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.responded(
      .failure(.notSent(message: "connection refused")), for: id, isCancelled: false, at: outbox.now)
    outbox.step(id)
    outbox.run()
    let probeAt = try #require(outbox.machine.accounts[Sample.work]?.breaker.nextProbeAt)
    return probeAt - outbox.now
  }

  @Test("resumes items that were held for an origin that is configured again, or for a sign-in")
  func frees() throws {
    var outbox = OutboxScript()
    let apis: [AccountName: APISettings] = [Sample.work: [Sample.origin]]
    outbox.machine.accountsChanged(apis, settings: OutboxSettings(), at: outbox.now)
    outbox.run()
    let before = outbox.works.count
    outbox.machine.accountsChanged(apis, settings: OutboxSettings(), at: outbox.now)
    outbox.run()
    #expect(!outbox.works[before...].contains { if case .free = $0 { true } else { false } })
    outbox.machine.signedIn(Sample.work)
    #expect(!outbox.machine.isIdle(Sample.work, at: outbox.now))
    let work = OutboxStoreWork.free(Sample.work, configured: [Sample.origin], signedIn: true)
    var found: OutboxStoreWork?
    while found != work, let next = outbox.machine.nextStoreWork(at: outbox.now) {
      found = next
      if case .configure(_, let number) = next { outbox.machine.pausesRead([], number: number) }
    }
    #expect(found == work)
    outbox.machine.storeFailed(work, at: outbox.now)
    outbox.now = outbox.now + .seconds(1)
    outbox.run()
    #expect(outbox.works.contains(work))
  }

  @Test("asks who owns a nameless user's items only after that user's own sign-out")
  func unnamed() {
    var outbox = OutboxScript()
    func report(_ permission: OutboxPermission, _ subject: Subject?) {
      outbox.machine.sessionChanged(
        Sample.work, permission: permission, knownSubject: subject, formerly: nil, token: nil, at: outbox.now)
      outbox.run()
    }
    let left = OutboxStoreWork.bind(Sample.work, to: .unnamedBefore, formerly: .unnamed, adopts: false)
    report(.sendable(under: .unnamed), .unnamed)
    #expect(outbox.works.contains(.bind(Sample.work, to: .unnamed, formerly: nil, adopts: true)))
    report(.blocked(reason: "reauthRequired"), .unnamed)
    report(.sendable(under: .unnamed), .unnamed)
    #expect(!outbox.works.contains(left))
    report(.blocked(reason: OutboxPermission.signedOut), nil)
    #expect(outbox.works.contains(left))
    #expect(outbox.machine.subjects(of: Sample.work) == [nil, .unnamed, .unnamedBefore])
    report(.blocked(reason: OutboxPermission.signedOut), nil)
    #expect(outbox.machine.leaving(Sample.work) == nil)
  }

  @Test("does not send requests under way again after their user signed out, whoever signs in next")
  func underWay() throws {
    var outbox = OutboxScript()
    let claim = outbox.claim(count: 2)
    outbox.run(claiming: [claim])
    let id = try outbox.first()
    outbox.signOut()
    outbox.signIn()
    outbox.answer(id, 401)
    #expect(outbox.step(id, bearer: 2).sent == nil)
    outbox.run()
    #expect(outbox.settled.map(\.outcome) == [.released])
  }

  @Test("tells the store that a user has left even if the account was not configured for a while")
  func leftWhileRemoved() {
    var outbox = OutboxScript()
    outbox.run()
    outbox.signOut()
    outbox.machine.accountsChanged([:], settings: OutboxSettings(), at: outbox.now)
    reload(&outbox)
    outbox.signIn(Sample.work, .unnamed)
    outbox.run()
    #expect(outbox.works.contains(.bind(Sample.work, to: .unnamedBefore, formerly: .unnamed, adopts: false)))
  }

  @Test("does not resume requests under way if the account was paused before it was not configured for a while")
  func pausedWhileRemoved() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.answer(id, 401)
    outbox.machine.paused([Sample.work], true, number: outbox.machine.nextPauseNumber(), at: outbox.now)
    outbox.machine.accountsChanged([:], settings: OutboxSettings(), at: outbox.now)
    reload(&outbox)
    outbox.signIn()
    #expect(outbox.step(id, bearer: 2).sent == nil)
  }

  @Test("probes an unreachable origin after the waits of the new configuration")
  func retryMax() throws {
    var outbox = OutboxScript()
    for _ in 1...8 { outbox.now = outbox.now + (try wait(&outbox)) }
    reload(&outbox) { $0.retryMax = .seconds(10) }
    #expect(try wait(&outbox) <= .seconds(10))
  }

  @Test("asks no origin for the time that is no longer the account's")
  func timeOfRemovedOrigin() {
    var outbox = OutboxScript()
    outbox.machine.clockStepped(by: .seconds(3600))
    outbox.machine.accounts[Sample.work]?.timeNeededFrom = Sample.origin
    reload(&outbox, to: [Sample.secondOrigin])
    #expect(outbox.machine.timesToAsk(at: outbox.now).isEmpty)
  }

  @Test("removes at once what was kept for longer than the new configuration allows")
  func keepDelivered() {
    var outbox = OutboxScript()
    reload(&outbox) { $0.keepDelivered = .seconds(60) }
    let before = outbox.works.count
    outbox.run()
    #expect(outbox.works[before...].contains(.prune(outbox.now)))
  }
}

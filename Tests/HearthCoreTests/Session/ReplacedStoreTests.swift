import TestSupport
import Testing

@testable import HearthCore

@Suite("A session whose credential moves to another store") struct ReplacedStoreTests {
  private let first = Credential.sample(1, issuedAt: .sample)

  private func isMoved(_ session: inout SessionScript) {
    session.take(.configured(session.machine.settings, changed: [.store]))
  }

  private func written(_ session: SessionScript) -> [Token] {
    session.effects.compactMap { if case .write(let credential, _) = $0 { credential.grant.accessToken } else { nil } }
  }

  @Test("continues with its grant if that is in the new place, and ends if nothing is")
  func stored() {
    var session = SessionScript.holding()
    isMoved(&session)
    #expect(session.effects == [.replaceStore, .read] && session.token == .sample(1))
    session.reads(.found(first))
    #expect(session.effects.isEmpty && session.machine.isAtRest && session.token == .sample(1))
    isMoved(&session)
    session.reads(.missing("it was elsewhere"))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing))
  }

  @Test(
    "writes to the new place what exists nowhere else, whatever of this session is there",
    arguments: [
      .missing("it was elsewhere"), .neverSignedIn, .found(.sample(1, issuedAt: .sample)),
      .found(.sample(3, issuedAt: .sample), .former), .found(.sample(1, issuedAt: .sample), .misprotected),
    ] as [CredentialReading])
  func unwritten(_ reading: CredentialReading) {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2))
    session.writes(.full)
    isMoved(&session)
    session.reads(reading)
    #expect(written(session) == [.sample(2)] && session.token == .sample(2))
    session.writes()
    #expect(!session.snapshot.isWritePending && session.machine.isAtRest && session.state == .authenticated)
    session.isHinted(.missing("it is gone"))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing), "what was written there can be missing there")
  }

  @Test("does not take an older copy in the new place for another program's grant after the old file was set aside")
  func copyOfSetAside() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2))
    session.writes(.full)
    session.isHinted(.corrupt("no JSON"))
    session.setsAside()
    session.writes(.full)
    isMoved(&session)
    session.reads(.found(first))
    #expect(written(session) == [.sample(2)] && session.token == .sample(2))
  }

  @Test("keeps what exists nowhere else until it is written, even if the new place is full or away, and under a lock")
  func unwrittenForLong() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2))
    session.writes(.full)
    isMoved(&session)
    session.reads(.unreadable(.away))
    session.take(.locked(.user))
    session.notesLock()
    session.isHinted(.missing("it was elsewhere"))
    #expect(written(session) == [.sample(2)])
    session.writes(.full)
    session.isHinted(.missing("it was elsewhere"))
    session.passes(.seconds(60))
    #expect(written(session) == [.sample(2)] && session.token == nil)
    session.writes()
    #expect(session.machine.credentialState == .notHeld(.locked))
  }

  @Test("writes to the new place again what was being written to the previous one")
  func beingWritten() {
    var refreshed = SessionScript.holding()
    refreshed.asks(.refresh)
    refreshed.isGranted(.sample(2))
    var signedIn = SessionScript.holding()
    signedIn.imports(.sample(2, issuedAt: .sample))
    for var session in [refreshed, signedIn] {
      isMoved(&session)
      #expect(session.effects.isEmpty, "the store before is still writing")
      session.writes()
      #expect(session.effects == [.replaceStore, .read] && session.token == .sample(2))
      session.reads(.missing("it was elsewhere"))
      #expect(written(session) == [.sample(2)])
      session.writes()
      #expect(session.machine.isAtRest && session.state == .authenticated)
    }
  }

  @Test("lets its refresh in flight finish in the new place, and begins no other before that is used")
  func inFlight() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    isMoved(&session)
    session.reads(.found(first))
    session.isGranted(.sample(2))
    #expect(written(session) == [.sample(2)])
    session.take(.locked(.user))
    session.take(.unlocked(.user))
    isMoved(&session)
    session.writes()
    #expect(!session.effects.contains(.replaceStore), "the lock is being noted")
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    #expect(session.attempts.count == 1)
    session.notesLock()
    session.notesLock()
    #expect(session.effects.contains(.replaceStore))
  }

  @Test("reads the new place whatever the previous store was doing, and takes over nothing that was read there")
  func beingRead() {
    var session = SessionScript()
    isMoved(&session)
    #expect(session.effects.isEmpty)
    session.reads(.unreadable(.denied))
    #expect(session.effects == [.replaceStore, .read])
    session.reads(.found(first))
    #expect(session.token == .sample(1))
    session.take(.locked(.user))
    session.notesLock()
    isMoved(&session)
    session.reads(.missing("it was elsewhere"))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing))
    isMoved(&session)
    session.take(.unlocked(.user))
    session.notesLock()
    session.reads(.found(.sample(5, issuedAt: .sample)))
    #expect(session.token == .sample(5))
  }

  @Test("obeys a lock and a sign-out at once while the previous store is still writing")
  func meanwhile() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2))
    isMoved(&session)
    session.take(.locked(.user))
    #expect(session.token == nil && session.state == .locked(.explicit(.user)))
    let signOut = session.asks(.signOut(revoke: true))
    session.removes()
    session.writes()
    session.notesLock()
    #expect(session.answers[signOut] == [.signedOut(revoke: [.sample(2, issuedAt: .sample)])])
    #expect(session.state == .unauthenticated(signedOut: true) && session.effects.contains(.replaceStore))
  }

  @Test("gives no expired token again, none whose refresh was for another user, and none that an API has refused")
  func staysDead() {
    var expired = SessionScript.signedIn()
    expired.passes(.seconds(3601))
    expired.fails(.unavailable(message: "503", retryAfter: .seconds(3000)))
    expired.steps(.seconds(-3600))
    var behind = SessionScript.holding(.sample(1, issuedAt: .sample + .seconds(3600)))
    behind.fails(.unavailable(message: "503", retryAfter: .seconds(3600)))
    behind.passes(.seconds(3601))
    behind.fails(.unavailable(message: "503", retryAfter: .seconds(3600)))
    var refused = SessionScript.holding()
    refused.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    refused.fails(.unavailable(message: "503", retryAfter: .seconds(3000)))
    var barred = SessionScript.holding()
    barred.asks(.refresh)
    barred.isGranted(.sample(2, subject: Subject(issuer: Subject.sample.issuer, id: "another")))
    barred.passes(.seconds(3601))
    for var session in [expired, behind, refused, barred] {
      let attempts = session.attempts.count
      session.take(.configured(session.machine.settings, changed: Set(SessionPart.allCases)))
      session.reads(session.machine.active.map { .found($0.stored) } ?? .neverSignedIn)
      session.passes(.seconds(60))
      #expect(session.token == nil && session.attempts.count == attempts && session.state == .authenticated)
    }
  }
}

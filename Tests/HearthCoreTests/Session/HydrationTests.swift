import HearthCore
import TestSupport
import Testing

@Suite("A session that reads its credential")
struct HydrationTests {
  private let end = EndRecord(reason: .refreshTokenRejected, at: .sample, fingerprint: Token.sample(1001).fingerprint)

  @Test("is hydrating until the credential has been read, and reads it at once")
  func startsHydrating() {
    let session = SessionScript()
    #expect(session.state == .hydrating)
    #expect(session.effects == [.read])
    #expect(session.snapshot.isReadable == false)
  }

  @Test("is authenticated with the grant that is found, which is due within its margin")
  func finds() throws {
    let session = SessionScript.holding()
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(1))
    #expect(session.snapshot.subject == .sample)
    let due = try #require(session.snapshot.token?.refreshAt)
    #expect(due >= .sample + .seconds(3600 - 330) && due <= .sample + .seconds(3600 - 300))
    #expect(session.effects.isEmpty)
  }

  @Test("is unauthenticated if nothing is remembered")
  func neverSignedIn() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    #expect(session.state == .unauthenticated(signedOut: false))
    #expect(session.nextWake == nil)
  }

  @Test(
    "is locked, never signed out, if the file cannot be read for any reason",
    arguments: AccessFailure.Kind.allCases)
  func unreadable(kind: AccessFailure.Kind) {
    let accessFailure = AccessFailure(kind, detail: "why")
    var session = SessionScript()
    session.reads(.unreadable(accessFailure))
    #expect(session.state == .locked(.accessFailure(accessFailure)))
    #expect(session.state.reason == kind.rawValue)
    #expect(session.snapshot.credentialError == "why")
    #expect(session.effects.isEmpty)
  }

  @Test("retries by itself while it cannot read, after 0.3 s doubling to 30 s, forever")
  func looksAgain() {
    var session = SessionScript()
    session.reads(.unreadable(.denied))
    var waits: [Duration] = []
    for _ in 0..<100 {
      let before = session.now
      session.wakes()
      #expect(session.effects == [.read])
      waits.append(session.now - before)
      session.reads(.unreadable(.denied))
    }
    #expect(Array(waits[..<8]) == [300, 600, 1200, 2400, 4800, 9600, 19_200, 30_000].map { .milliseconds($0) })
    #expect(waits[7...].allSatisfy { $0 == .seconds(30) })
    session.isHinted(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state == .authenticated)
    #expect(session.actions.contains(.publish(.credentialReadable)))
    #expect(session.events.filter { $0 == .credentialUnreadable(.denied) }.count == 1)
  }

  @Test("keeps the remembered subject through a locked start")
  func keepsTheHint() {
    var session = SessionScript(remembered: RememberedAccount(subject: .sample))
    session.reads(.unreadable(.denied))
    #expect(session.snapshot.subject == .sample)
    session.isHinted(.found(.sample(1, subject: nil, issuedAt: .sample)))
    #expect(session.snapshot.subject == .sample)
    #expect(session.effects == [.identify(.sample(1, subject: nil, issuedAt: .sample), generation: 0)])
  }

  @Test("ends if the credential is gone from a readable place, and publishes that only when it is on record")
  func missing() {
    var session = SessionScript()
    session.reads(.missing("work.json is gone"))
    #expect(session.state == .hydrating)
    let end = EndRecord(
      reason: .credentialMissing, at: session.now, fingerprint: nil,
      detail: "The credential is missing: work.json is gone.")
    #expect(session.effects == [.writeEnd(end)])
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing))
    #expect(session.snapshot.message.contains("work.json is gone"))
    var later = SessionScript(remembered: RememberedAccount(end: end))
    #expect(later.snapshot.message.contains("work.json is gone"))
    later.reads(.ended(end))
    #expect(later.snapshot.message.contains("work.json is gone"))
  }

  @Test("sets a corrupt file aside before it ends")
  func corrupt() {
    var session = SessionScript()
    session.reads(.corrupt("no JSON"))
    #expect(session.effects == [.setAside(why: "no JSON")])
    #expect(session.state == .hydrating)
    session.setsAside()
    let detail = "The credential cannot be understood (no JSON) and was moved to work.json.corrupt-1."
    #expect(
      session.effects == [
        .writeEnd(EndRecord(reason: .credentialCorrupt, at: session.now, fingerprint: nil, detail: detail))
      ])
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialCorrupt))
    #expect(session.snapshot.message == detail + " Run \"hearthctl login work\".")
    #expect(session.events.contains(.credentialSetAside(name: "work.json.corrupt-1", why: "no JSON")))
  }

  @Test("does not end over a corrupt file that cannot be set aside, and retries ever more slowly")
  func corruptAndStuck() {
    var session = SessionScript()
    var waits: [Duration] = []
    for _ in 0..<12 {
      session.reads(.corrupt("no JSON"))
      session.setsAside(.denied)
      #expect(session.state == .locked(.accessFailure(.denied)))
      let before = session.now
      session.wakes()
      waits.append(session.now - before)
    }
    #expect(waits.last == .seconds(30))
  }

  @Test("does not overwrite a file from a newer version, and says so")
  func tooNew() {
    var session = SessionScript()
    session.reads(.tooNew(version: 9))
    #expect(session.state == .reauthRequired(.credentialTooNew))
    #expect(session.effects.isEmpty)
    #expect(session.snapshot.message.contains("format 9"))
    session.isHinted(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state == .authenticated)
  }

  @Test("says that the file is corrupt if garbage replaced the file of a newer version")
  func tooNewThenCorrupt() {
    var session = SessionScript()
    session.reads(.tooNew(version: 9))
    session.isHinted(.corrupt("no JSON"))
    session.setsAside()
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialCorrupt))
  }

  @Test("says how the session ended before if the file from a newer version is gone")
  func tooNewThenGone() {
    var session = SessionScript()
    session.reads(.tooNew(version: 9))
    session.isHinted(.ended(end))
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
  }

  @Test("says the same about a newer version's file when the token has expired as after a restart")
  func tooNewAtExpiry() {
    var session = SessionScript.holding()
    session.isHinted(.tooNew(version: 9))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.credentialError?.contains("update Hearth") == true)
    while session.now < .sample + .seconds(3600), session.wakes() {
      if session.effects == [.read] { session.reads(.tooNew(version: 9)) }
    }
    #expect(session.state == .reauthRequired(.credentialTooNew))
    #expect(session.effects.isEmpty)
    #expect(session.snapshot.message.contains("format 9") && session.snapshot.action == .signIn)
    #expect(session.nextWake == nil)
    session.isHinted(.found(.sample(2, issuedAt: session.now)))
    #expect(session.state == .authenticated)
  }

  @Test("shows a remembered end before and after anything is read")
  func remembersTheEnd() {
    var session = SessionScript(remembered: RememberedAccount(end: end))
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
    #expect(session.snapshot.since == end.at)
    session.reads(.ended(end))
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
    #expect(session.nextWake == nil)
  }

  @Test("never sends a refused token again: if it is found after a restart, it is replaced by its end")
  func healsTheEnd() {
    var session = SessionScript(remembered: RememberedAccount(end: end))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.effects == [.writeEnd(end)])
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
    session.writesEnd(.full)
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
    session.wakes()
    #expect(session.effects == [.read])
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.effects == [.writeEnd(end)])
  }

  @Test("takes over another grant that is found after an end, even if the end could not be written")
  func adoptsAfterTheEnd() {
    var session = SessionScript(remembered: RememberedAccount(end: end))
    session.reads(.unreadable(.away))
    session.wakes()
    #expect(session.effects == [.read])
    session.reads(.found(.sample(2, issuedAt: .sample)))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(2))
  }

  @Test("uses a lost credential again if it comes back and was never refused")
  func welcomesTheLost() {
    var session = SessionScript.holding()
    session.isHinted(.missing("work.json is gone"))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing))
    session.isHinted(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(1))
  }

  // MARK: - While a grant is held

  @Test("keeps serving the grant in memory when the file becomes unreadable, refreshes nothing, then locks")
  func servesWhatItHolds() {
    var session = SessionScript.holding()
    session.isHinted(.unreadable(.denied))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.isReadable == false)
    #expect(session.token == .sample(1))
    session.passes(.seconds(3500))
    session.reads(.unreadable(.denied))
    #expect(session.attempts.isEmpty)
    #expect(session.state == .authenticated)
    session.passes(.seconds(101))
    #expect(session.state == .locked(.accessFailure(.denied)))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state == .authenticated)
    #expect(session.attempts.count == 1)
  }

  @Test("writes a corrupt file again from memory, once it is set aside")
  func rewritesTheCorrupt() {
    var session = SessionScript.holding()
    session.isHinted(.corrupt("cut off"))
    #expect(session.effects == [.setAside(why: "cut off")])
    #expect(session.state == .authenticated)
    session.setsAside()
    #expect(session.effects == [.write(.sample(1, issuedAt: .sample), generation: 0)])
    session.writes()
    #expect(session.token == .sample(1))
    #expect(session.machine.isAtRest)
  }

  @Test("does not take its own setting aside for a removal")
  func knowsWhatItSetAside() {
    var session = SessionScript.holding()
    session.isHinted(.corrupt("cut off"))
    session.setsAside()
    session.writes(.full)
    session.isHinted(.missing("work.json is gone"))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(1))
  }

  @Test("keeps its grant if nothing is left of the place, or a newer version wrote there")
  func keepsWhatItHolds() {
    for reading in [CredentialReading.neverSignedIn, .tooNew(version: 9)] {
      var session = SessionScript.holding()
      session.isHinted(reading)
      #expect(session.state == .authenticated)
      #expect(session.effects.isEmpty)
      #expect(session.snapshot.isReadable == false)
    }
  }

  @Test("ends when the file is removed from a readable place")
  func removedWhileHeld() {
    var session = SessionScript.holding()
    session.isHinted(.missing("work.json is gone"))
    #expect(session.state == .authenticated)
    session.writesEnd()
    #expect(session.state == .reauthRequired(.credentialMissing))
    #expect(session.token == nil)
  }

  @Test("overwrites an end that somebody put into the file of a running session")
  func rewritesTheEnd() {
    var session = SessionScript.holding()
    session.isHinted(.ended(end))
    #expect(session.state == .authenticated)
    #expect(session.effects == [.write(.sample(1, issuedAt: .sample), generation: 0)])
  }

  @Test("takes over another program's grant, in a new generation, and drops results for the old one")
  func adoptsWhileHeld() {
    for subject in [Subject.sample, nil] {
      var session = SessionScript.holding()
      session.passes(.seconds(3400))
      #expect(session.attempts.count == 1)
      session.isHinted(.found(.sample(7, subject: subject, issuedAt: session.now)))
      #expect(session.token == .sample(7))
      #expect(session.machine.epoch.generation == 1)
      #expect(session.events.contains(.statusChanged))
      session.isGranted(.sample(2))
      #expect(session.token == .sample(7))
      #expect(session.effects.isEmpty, "the grant that is held may be revoked with it")
    }
  }

  @Test("revokes the result of an older request if the grant that was taken over is another user's")
  func adoptsAnothersWhileHeld() {
    var session = SessionScript.holding()
    session.passes(.seconds(3400))
    let other = Subject(issuer: "https://id.example.com", id: "other")
    session.isHinted(.found(.sample(7, subject: other, issuedAt: session.now)))
    session.isGranted(.sample(2))
    guard case .revoke(let late)? = session.effects.first else {
      Issue.record("nothing was revoked")
      return
    }
    #expect(late.grant.accessToken == .sample(2))
    #expect(late.grant.refreshToken == .sample(1002))
  }

  @Test("forgets its user when another program's grant names none, and asks")
  func asksWhoseItIs() {
    var session = SessionScript.holding()
    session.isHinted(.found(.sample(7, subject: nil, issuedAt: .sample)))
    #expect(session.snapshot.subject == nil)
    #expect(session.effects == [.identify(.sample(7, subject: nil, issuedAt: .sample), generation: 1)])
    let other = Subject(issuer: "https://id.example.com", id: "other")
    session.isIdentified(as: other)
    #expect(session.snapshot.subject == other)
    #expect(session.effects == [.write(.sample(7, subject: other, issuedAt: .sample), generation: 1)])
  }

  @Test("ignores an answer about the owner of an older grant")
  func dropsOldIdentity() {
    var session = SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample))
    session.take(.locked(.user))
    session.take(.unlocked(.user))
    session.reads(.found(.sample(7, subject: nil, issuedAt: .sample)))
    session.take(.identified(generation: 0, .sample))
    #expect(session.snapshot.subject == nil)
  }

  @Test("reads again if that was requested during a read")
  func readsAgain() {
    var session = SessionScript()
    session.take(.credentialHinted)
    #expect(session.effects.isEmpty)
    session.reads(.neverSignedIn)
    #expect(session.effects == [.read])
  }

  @Test("ignores reads from before its own write landed")
  func ignoresOldReads() {
    var session = SessionScript.holding()
    session.take(.credentialHinted)
    session.passes(.seconds(1))
    session.asks(.refresh)
    session.isGranted(.sample(2))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    session.writes()
    #expect(session.token == .sample(2))
    #expect(session.effects == [.read])
  }
}

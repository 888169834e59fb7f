import HearthCore
import TestSupport
import Testing

@Suite("A session whose grant cannot be written")
struct PendingWriteTests {
  /// A refresh that succeeded while the disk was full.
  private var pending: SessionScript {
    var session = SessionScript.holding()
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes(.full)
    return session
  }

  @Test("keeps the rotated grant in memory, serves it, and says that it is not on disk")
  func keeps() {
    let session = pending
    #expect(session.token == .sample(2))
    #expect(session.snapshot.isWritePending)
    #expect(session.snapshot.credentialError == AccessFailure.full.detail)
    #expect(session.actions.contains(.publish(.credentialPendingWrite(.full))))
    #expect(session.state == .authenticated)
  }

  @Test("says that it is not on disk, while the file cannot be read")
  func unreadableBeforeItIsWritten() {
    var session = pending
    session.isHinted(.unreadable(.denied))
    #expect(session.machine.isAtRest && session.token == .sample(2))
    #expect(session.snapshot.isWritePending)
  }

  @Test("still says that it is not on disk while the write is tried again")
  func writesOnceMore() {
    var session = pending
    session.wakes()
    #expect(session.effects.count == 1 && session.snapshot.isWritePending)
  }

  @Test("publishes half a margin ahead that the token expires, even if only one write has failed")
  func expiresSoon() throws {
    var session = pending
    session.wakes()
    let end = try #require(session.snapshot.token?.expiresAt)
    let margin = session.machine.settings.refresh.margin(forLifetime: .seconds(3600))
    session.passes(end - margin / 2 - .milliseconds(1) - session.now)
    #expect(!session.events.contains(.expiring(at: end, final: false)))
    session.passes(.milliseconds(1))
    #expect(session.events.contains(.expiring(at: end, final: false)))
  }

  @Test("retries the write within seconds, forever, and publishes the failure once")
  func triesAgain() {
    var session = pending
    for _ in 0..<50 {
      let before = session.now
      session.wakes()
      #expect(session.now - before <= .seconds(30))
      guard case .write(let credential, _)? = session.effects.first else {
        Issue.record("nothing was written")
        return
      }
      #expect(credential.grant.refreshToken == .sample(1002))
      session.writes(.full)
      if session.now > .sample + .seconds(6000) { break }
    }
    session.wakes()
    session.writes()
    #expect(!session.snapshot.isWritePending)
    #expect(session.events.filter { $0 == .credentialPendingWrite(.full) }.count == 1)
  }

  @Test("neither writes nor ends before a read has finished, which may find another program's newer grant")
  func waitsForTheLook() {
    var session = pending
    session.take(.credentialHinted)
    session.passes(.seconds(10_000))
    #expect(session.effects.isEmpty)
    session.reads(.found(.sample(3, issuedAt: session.now)))
    #expect(session.token == .sample(3))
    #expect(session.state == .authenticated)

    var writing = pending
    writing.wakes()
    writing.take(.credentialHinted)
    writing.passes(.seconds(10_000))
    writing.writes(.full)
    #expect(writing.effects == [.read])
    writing.reads(.found(.sample(3, issuedAt: writing.now)))
    #expect(writing.token == .sample(3))
  }

  @Test("sends nothing that could not be stored, and rejects calls that would need it")
  func sendsNothing() {
    var session = pending
    #expect(session.attempts.count == 1)
    guard let failure = session.answer(asking: .refresh)?.failure, failure.kind == .refreshUnavailable else {
      Issue.record("not refused")
      return
    }
    #expect(failure.message.contains(AccessFailure.full.detail))
    session.passes(.seconds(3601))
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated)
  }

  @Test("writes again what changed during the write: its owner, or its expiry")
  func writesAgain() {
    var nameless = SessionScript()
    nameless.reads(.neverSignedIn)
    nameless.imports(.sample(5, subject: nil, issuedAt: .sample))
    nameless.writes(.full)
    nameless.wakes()
    nameless.isIdentified(as: .sample)
    nameless.writes()
    #expect(nameless.effects == [.write(.sample(5, issuedAt: .sample), generation: 1)])
    nameless.writes()
    #expect(nameless.effects.isEmpty)

    var storing = SessionScript.holding()
    storing.asks(.refresh)
    storing.isGranted(.sample(2))
    storing.now = .sample + .seconds(7200)
    storing.take(.clockChanged(by: .seconds(7200)))
    storing.writes()
    #expect(storing.effects == [.write(.sample(2, issuedAt: storing.now), generation: 0)])
    storing.isHinted(.found(.sample(2, issuedAt: .sample)))
    storing.writes(.full)
    storing.isHinted(.found(.sample(2, issuedAt: .sample)))
    #expect(storing.snapshot.isWritePending, "the times on disk are still the old ones")
  }

  @Test("writes it at once when the older grant becomes readable again, and does not return to that one")
  func newerWins() {
    var session = pending
    session.isHinted(.found(.sample(1, issuedAt: .sample)))
    guard case .write(let credential, _)? = session.effects.first else {
      Issue.record("nothing was written")
      return
    }
    #expect(credential.grant.accessToken == .sample(2))
    #expect(session.token == .sample(2))
  }

  @Test("never replaces a file that cannot be read")
  func neverReplacesTheUnreadable() {
    var session = pending
    session.isHinted(.unreadable(.denied))
    for _ in 0..<20 {
      session.wakes()
      #expect(!session.effects.contains { if case .write = $0 { true } else { false } })
      if session.effects.contains(.read) { session.reads(.unreadable(.denied)) }
    }
    #expect(session.state == .authenticated)
    session.isHinted(.found(.sample(1, issuedAt: .sample)))
    #expect(session.effects.contains { if case .write = $0 { true } else { false } })
  }

  @Test("tries once more when the process stops, and is at rest only after that")
  func triesAtTheEnd() {
    var session = pending
    #expect(session.machine.isAtRest)
    session.take(.stopping)
    #expect(session.effects.contains { if case .write = $0 { true } else { false } })
    #expect(!session.machine.isAtRest)
    session.writes(.full)
    #expect(session.machine.isAtRest)
  }

  @Test("reads once more when the process stops while the file could not be read, and writes if it can be again")
  func looksAtTheEnd() {
    var session = pending
    session.isHinted(.unreadable(.away))
    session.take(.stopping)
    #expect(session.effects == [.read])
    #expect(!session.machine.isAtRest)
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.effects.contains { if case .write = $0 { true } else { false } })
    session.writes()
    #expect(session.machine.isAtRest)
  }

  @Test("retries ever more slowly, up to 30 s, to write an end or remove a signed-out grant over what it finds")
  func finishesEverMoreSlowly() {
    for isSignedOut in [false, true] {
      var session = SessionScript.holding()
      if isSignedOut {
        session.asks(.signOut(revoke: false))
      } else {
        session.asks(.refresh)
        session.fails(.rejected(.refreshToken, message: "invalid_grant"))
        session.reads(.found(.sample(1, issuedAt: .sample)))
      }
      var waits: [Duration] = []
      for _ in 0..<10 {
        if isSignedOut { session.removes(.full) } else { session.writesEnd(.full) }
        let before = session.now
        session.wakes()
        waits.append(session.now - before)
        #expect(session.effects == [.read])
        session.reads(.found(.sample(1, issuedAt: .sample)))
      }
      #expect(Array(waits[..<3]) == [300, 600, 1200].map { .milliseconds($0) })
      #expect(waits.last == .seconds(30))
      if isSignedOut { session.removes() } else { session.writesEnd() }
      #expect(session.nextWake == nil)
    }
  }

  @Test("writes no refreshed grant before a read under way has shown that the file holds no other program's")
  func looksBeforeItWrites() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.take(.credentialHinted)
    session.isGranted(.sample(2))
    #expect(session.effects.isEmpty)
    #expect(!session.machine.isAtRest)
    let write = SessionAction.write(.sample(2, issuedAt: .sample), generation: 0)
    let nothingNew: [CredentialReading] = [
      .found(.sample(1, issuedAt: .sample)), .unreadable(.away), .missing("gone"), .corrupt("no JSON"),
    ]
    for reading in nothingNew {
      var undisturbed = session
      undisturbed.reads(reading)
      #expect(undisturbed.effects == [write])
    }
    var stopping = session
    stopping.take(.stopping)
    #expect(stopping.effects.contains(write))
    session.reads(.found(.sample(7, issuedAt: .sample)))
    #expect(session.effects.isEmpty)
    #expect(session.token == .sample(7))
    #expect(session.machine.isAtRest)
  }
}

import HearthCore
import TestSupport
import Testing

@Suite("A session whose credential is not protected as configured")
struct MisprotectedTests {
  private let credential = Credential.sample(1, issuedAt: .sample)
  private let keyAway = AccessFailure(.keyUnavailable, detail: "key file /k is not there")

  private func found(_ accessFailure: AccessFailure? = nil) -> SessionScript {
    var session = SessionScript()
    session.reads(.found(credential, .misprotected))
    if let accessFailure { session.writes(accessFailure) }
    return session
  }

  private func isWrite(_ action: SessionAction?) -> Bool {
    if case .write(let written, _)? = action { written == credential } else { false }
  }

  @Test("is written at once, serves its token meanwhile, and is at rest when that is done")
  func written() {
    var session = found()
    #expect(isWrite(session.effects.first) && session.effects.count == 1)
    #expect(session.state == .authenticated && session.token == .sample(1))
    session.writes()
    #expect(session.effects.isEmpty && !session.snapshot.isWritePending && session.machine.isAtRest)
    session.isHinted(.found(credential))
    #expect(session.effects.isEmpty)
  }

  @Test("is written ever more slowly if that fails, whatever is read in between, and does not end")
  func backsOff() {
    var session = found(keyAway)
    var waits: [Duration] = []
    for _ in 0..<12 {
      session.isHinted(.found(credential, .misprotected))
      #expect(!session.effects.contains { isWrite($0) })
      let before = session.now
      session.wakes()
      waits.append(session.now - before)
      #expect(isWrite(session.effects.first))
      session.writes(keyAway)
      #expect(session.state == .authenticated && session.token == .sample(1))
    }
    #expect(waits.max().map { $0 <= .seconds(30) && $0 >= .seconds(15) } == true)
    #expect(session.snapshot.isWritePending && session.snapshot.credentialError == keyAway.detail)
    #expect(session.events.filter { $0 == .credentialPendingWrite(keyAway) }.count == 1)
  }

  @Test("asks for the passphrase to seal it, and is sealed as soon as that is entered")
  func passphrase() {
    var session = found(.sealed)
    #expect(session.state == .authenticated && session.token == .sample(1))
    #expect(session.snapshot.action == .unlock)
    #expect(session.snapshot.message.hasSuffix("Run \"hearthctl unlock work\"."))
    session.take(.unlocked(.user))
    #expect(session.effects.contains { isWrite($0) })
    session.writes()
    #expect(session.snapshot.action == nil && session.snapshot.message == "Signed in.")
  }

  @Test("sends nothing before it is sealed, because the answer could not be sealed")
  func asksNothing() {
    var session = found(.sealed)
    session.passes(.seconds(4000))
    session.writes(.sealed)
    #expect(session.attempts.isEmpty && session.state == .authenticated)
    guard session.answer(asking: .refresh)?.failure?.kind == .refreshUnavailable else {
      Issue.record("not refused")
      return
    }
  }

  @Test("is wiped by a lock even if it cannot be written, because its tokens are on disk; a newer grant is not")
  func locked() {
    var session = found(.sealed)
    session.take(.locked(.user))
    #expect(session.machine.credentialState == .notHeld(.locked) && session.state == .locked(.explicit(.user)))
    session.take(.unlocked(.user))
    session.reads(.found(credential, .misprotected))
    #expect(session.token == .sample(1))

    var pending = SessionScript.holding()
    pending.comesDue()
    pending.isGranted(.sample(2))
    pending.writes(.full)
    pending.take(.locked(.user))
    #expect(pending.machine.credentialState != .notHeld(.locked), "memory holds the only copy")
  }

  @Test("takes over another program's unsealed grant and seals it")
  func adopted() {
    var session = SessionScript.holding()
    let other = Credential.sample(5, issuedAt: .sample)
    session.isHinted(.found(other, .misprotected))
    #expect(session.token == .sample(5))
    guard case .write(let written, _)? = session.effects.first else {
      Issue.record("not written")
      return
    }
    #expect(written == other)
  }
}

import HearthCore
import TestSupport
import Testing

@Suite("Whose a grant is that a refresh brings")
struct SubjectTests {
  private let other = Subject(issuer: "https://id.example.com", id: "9999")

  @Test("keeps what an answer for another user rotated, uses nothing of it, revokes nothing, and asks to mend it")
  func anotherUser() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(
      TokenResponse(
        accessToken: .sample(2), refreshToken: .sample(1002), lifetime: .seconds(60), subject: other, origin: .sample))
    var kept = Credential.sample(1, issuedAt: .sample)
    kept.grant.refreshToken = .sample(1002)
    #expect(session.effects == [.write(kept, generation: 0)])
    session.writes()
    #expect(session.token == .sample(1))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.action == .fixConfiguration)
    session.comesDue()
    #expect(session.effects == [.refresh(kept, generation: 0)])
  }

  @Test("takes the real issuer for the one that was assumed where the provider names the same user, and keeps it")
  func realIssuer() {
    let assumed = Subject(issuer: "https://tokens.example.com", id: "2482", isIssuerAssumed: true)
    var session = SessionScript.holding(.sample(1, subject: assumed, issuedAt: .sample))
    session.refreshes(to: 2)
    #expect(session.token == .sample(2))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.subject?.isIssuerAssumed == false)
    #expect(session.actions.contains(.publish(.statusChanged)))
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isGranted(
      TokenResponse(accessToken: .sample(3), lifetime: .seconds(60), subject: assumed, origin: .sample))
    session.writes()
    #expect(session.token == .sample(3))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.action == nil)
  }

  @Test(
    "takes an issuer that is spelt with a scheme or a slash, or without, for the same",
    arguments: ["https://id.example.com/", "id.example.com"])
  func issuerSpelling(issuer: String) {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: Subject(issuer: issuer, id: "2482")))
    session.writes()
    #expect(session.token == .sample(2))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.action == nil)
  }

  @Test("names both issuers where only they tell two users apart")
  func otherIssuer() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: Subject(issuer: "https://other.example.com", id: "2482")))
    session.writes()
    #expect(session.token == .sample(1))
    let message = session.snapshot.message
    #expect(message.contains("https://other.example.com") && message.contains("than 2482 of https://id.example.com"))
  }

  @Test("lets the subject that the provider tells take the place of the configured one, which stands in for it")
  func configuredStandsIn() {
    let standIn = Subject(issuer: "https://id.example.com", id: "me@example.com")
    var session = SessionScript(SessionSettings(configuredSubject: standIn))
    session.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    #expect(session.snapshot.subject == standIn)
    session.refreshes(to: 2)
    #expect(session.token == .sample(2))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.formerSubject == standIn, "what was queued under the stand-in is this user's")
    #expect(session.snapshot.action == nil)
  }

  @Test("does not give the next user of the account what was queued under the configured subject")
  func standInOfAnother() {
    let standIn = Subject(issuer: "https://id.example.com", id: "me@example.com")
    var imported = SessionScript(SessionSettings(configuredSubject: standIn))
    imported.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    imported.refreshes(to: 2)
    imported.asks(.adopt(.sample(3, subject: other, issuedAt: imported.now)))
    imported.writes()
    #expect(imported.snapshot.subject == other)
    #expect(imported.snapshot.formerSubject != standIn)

    var found = SessionScript(SessionSettings(configuredSubject: standIn))
    found.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    found.refreshes(to: 2)
    found.isHinted(.found(.sample(3, subject: other, issuedAt: found.now)))
    #expect(found.snapshot.subject == other)
    #expect(found.snapshot.formerSubject != standIn)
  }

  @Test("uses no grant for another user where the configured subject is the one that the provider told")
  func configuredAndTold() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), SessionSettings(configuredSubject: .sample))
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    session.writes()
    #expect(session.token == .sample(1))
    #expect(session.snapshot.action == .fixConfiguration)
  }

  @Test("takes note of whose it is when a refresh says so, and publishes it")
  func learnsWhoseItIs() {
    var session = SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample))
    session.refreshes(to: 2)
    #expect(session.snapshot.subject == .sample)
    #expect(session.actions.contains(.publish(.statusChanged)))
  }
}

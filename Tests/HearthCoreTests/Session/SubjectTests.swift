import HearthCore
import TestSupport
import Testing

@Suite("The owner of a refreshed grant")
struct SubjectTests {
  private let other = Subject(issuer: "https://id.example.com", id: "9999")

  @Test("stores, uses and revokes nothing of an answer for another user, and asks for a sign-in")
  func anotherUser() {
    var session = SessionScript.holding()
    let waiting = session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    let barred = Credential.sample(1, issuedAt: .sample).grant.accessToken.fingerprint
    #expect(session.effects == [.remember(.barred(barred))])
    guard let failure = session.answer(to: waiting)?.failure, failure.retryAfter == nil else {
      Issue.record("\(session.answers)")
      return
    }
    #expect(failure.message.contains("another user"))
    #expect(session.state == .authenticated && session.token == .sample(1), "hers is served while it lasts")
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.action == .signIn)
    #expect(session.snapshot.message.contains("hearthctl login work"))
    #expect(session.snapshot.history.failures == 1)
    #expect(session.snapshot.nextAttemptAt == nil && session.snapshot.token?.refreshAt == nil)
  }

  @Test("does not refresh again after an answer for another user before somebody signs in, whatever else happens")
  func anotherUserOnce() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    session.take(.networkReturned)
    session.take(.configured(.obeyingEveryLock))
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    for _ in 0..<10 {
      session.passes(.seconds(1000))
      session.asks(.refresh)
      session.asks(.token(minValidity: nil))
    }
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated && session.token == nil)
    session.imports(.sample(3, issuedAt: session.now))
    session.writes()
    #expect(session.snapshot.action == nil)
    session.refreshes(to: 4)
    #expect(session.token == .sample(4))
  }

  @Test("does not do so after a restart either, whatever replaced the grant meanwhile, until somebody signs in")
  func anotherUserRemembered() {
    let (hers, next) = (Credential.sample(1, issuedAt: .sample), Credential.sample(2, issuedAt: .sample))
    var session = SessionScript(
      remembered: RememberedAccount(subject: .sample, barred: hers.grant.accessToken.fingerprint))
    session.reads(.found(hers))
    session.asks(.refresh)
    session.passes(.seconds(7200))
    #expect(session.attempts.isEmpty && session.snapshot.action == .signIn)
    session.isHinted(.found(next))
    session.refreshes(to: 3)
    #expect(session.attempts.count == 1 && session.snapshot.action == nil, "another program's grant is not barred")
    session.imports(hers)
    session.writes()
    session.asks(.refresh)
    #expect(session.attempts.count == 2, "somebody has signed in with it")
  }

  @Test("remembers that for each such grant, and not only for the last one")
  func anotherUserTwice() {
    let (first, second) = (Credential.sample(1, issuedAt: .sample), Credential.sample(7, issuedAt: .sample))
    var session = SessionScript.holding(first)
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    session.isHinted(.found(second))
    session.passes(.seconds(2))
    session.asks(.refresh)
    session.isGranted(.sample(3, subject: other))
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    session.reads(.found(first, .former))
    session.passes(.seconds(7200))
    #expect(session.attempts.count == 2 && session.snapshot.action == .signIn)
  }

  @Test("requests a client's own grant again that was for another subject, once somebody asks for that")
  func anotherClient() {
    var session = SessionScript.holding(
      .sample(1, issuedAt: .sample), SessionSettings(renewsWithoutRefreshToken: true))
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    session.passes(.seconds(7200))
    #expect(session.attempts.count == 1)
    session.asks(.requestGrant)
    #expect(session.attempts.count == 2)
  }

  @Test("treats a user whose name only looks alike as another one")
  func lookalike() {
    let issuer = "https://id.example.com"
    var session = SessionScript.holding(
      .sample(1, subject: Subject(issuer: issuer, id: "K"), issuedAt: .sample))
    session.asks(.refresh)
    session.isGranted(
      TokenResponse(
        accessToken: .sample(2), lifetime: .seconds(60), subject: Subject(issuer: issuer, id: "\u{212A}"),
        origin: .sample))
    #expect(session.token == .sample(1))
    #expect(session.snapshot.subject?.id.utf8.count == 1)
  }

  @Test("replaces the assumed issuer by the real one if the provider names the same user, and keeps it")
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

  @Test("may have queued items as the assumed user of the token endpoint, unless its issuer is assumed now")
  func formerlyAssumed() throws {
    let endpoint = try HTTPURL("https://tokens.example.com/token").origin
    let settings = SessionSettings(binding: TokenBinding(named: endpoint))
    var credential = Credential.sample(1, issuedAt: .sample)
    credential.origin = endpoint
    let former = SessionScript.holding(credential, settings).snapshot.formerSubject
    #expect(former == Subject(issuer: endpoint.description, id: "2482"))

    let assumed = Subject(issuer: "https://earlier.example.com", id: "2482", isIssuerAssumed: true)
    credential.subject = assumed
    let session = SessionScript.holding(credential, settings)
    #expect(session.snapshot.subject == assumed)
    #expect(session.snapshot.formerSubject == nil)
  }

  @Test(
    "treats an issuer with or without a scheme or a final slash as the same",
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

  @Test("names both issuers if only they distinguish two users")
  func otherIssuer() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: Subject(issuer: "https://other.example.com", id: "2482")))
    #expect(session.token == .sample(1))
    let message = session.snapshot.message
    #expect(message.contains("https://other.example.com") && message.contains("not 2482 of https://id.example.com"))
  }

  @Test("replaces the configured subject, which was used until then, by the one that the provider names")
  func configuredIsProvisional() {
    let provisional = Subject(issuer: "https://id.example.com", id: "me@example.com")
    var session = SessionScript(SessionSettings(configuredSubject: provisional))
    session.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    #expect(session.snapshot.subject == provisional)
    session.refreshes(to: 2)
    #expect(session.token == .sample(2))
    #expect(session.snapshot.subject == .sample)
    #expect(session.snapshot.formerSubject == provisional, "what the provisional subject queued is this user's")
    #expect(session.snapshot.action == nil)
  }

  @Test("is known after a restart if the session had ended, but not if the user had signed out")
  func remembered() {
    for (reason, subject) in [(EndReason.refreshTokenRejected, Subject.sample), (.signedOut, nil)] {
      let end = EndRecord(reason: reason, at: .sample, fingerprint: nil)
      let session = SessionScript(remembered: RememberedAccount(subject: .sample, end: end))
      #expect(session.snapshot.subject == subject)
    }
  }

  @Test("does not give the next user of the account what was queued under the configured subject")
  func provisionalOfAnother() {
    let provisional = Subject(issuer: "https://id.example.com", id: "me@example.com")
    var imported = SessionScript(SessionSettings(configuredSubject: provisional))
    imported.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    imported.refreshes(to: 2)
    imported.imports(.sample(3, subject: other, issuedAt: imported.now))
    imported.writes()
    #expect(imported.snapshot.subject == other)
    #expect(imported.snapshot.formerSubject != provisional)

    var found = SessionScript(SessionSettings(configuredSubject: provisional))
    found.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
    found.refreshes(to: 2)
    found.isHinted(.found(.sample(3, subject: other, issuedAt: found.now)))
    #expect(found.snapshot.subject == other)
    #expect(found.snapshot.formerSubject != provisional)
  }

  @Test("uses no grant for another user if the configured subject is the one that the provider named")
  func configuredAndTold() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), SessionSettings(configuredSubject: .sample))
    session.asks(.refresh)
    session.isGranted(.sample(2, subject: other))
    #expect(session.token == .sample(1))
    #expect(session.snapshot.action == .signIn)
  }

  @Test("records the owner when a refresh names one, and publishes it")
  func learnsWhoseItIs() {
    var session = SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample))
    session.refreshes(to: 2)
    #expect(session.snapshot.subject == .sample)
    #expect(session.actions.contains(.publish(.statusChanged)))
  }
}

import HearthCore
import TestSupport
import Testing

@Suite("Whether an unused grant may be of the user who is signed in")
struct SharedUserTests {
  private let other = AccountName("other")!
  private let ada = Subject(issuer: "https://id.example.com", id: "ada")
  private let elsewhere = (try? HTTPURL("https://elsewhere.example.com"))!.origin

  private func leftover(of subject: Subject?, from origin: Origin = .sample) -> Credential {
    var leftover = Credential.sample(9, subject: subject, issuedAt: .sample)
    leftover.origin = origin
    return leftover
  }

  private func isShared(
    _ leftover: Credential, of owner: AccountName = .sample, _ session: SessionScript
  ) -> Bool {
    session.machine.mayShareUser(with: leftover, of: owner, at: session.now)
  }

  @Test("is decided by issuer and name, in any account, however the issuer is spelled, and if it was assumed")
  func sameUser() {
    let session = SessionScript.holding()
    let spelled = Subject(issuer: "id.example.com/", id: "2482")
    let assumed = Subject(issuer: "https://tokens.example.com", id: "2482", isIssuerAssumed: true)
    for subject in [Subject.sample, spelled, assumed] {
      for owner in [AccountName.sample, other] { #expect(isShared(leftover(of: subject), of: owner, session)) }
    }
    let stranger = Subject(issuer: "https://elsewhere.example.com", id: "2482")
    for subject in [ada, stranger] {
      for owner in [AccountName.sample, other] { #expect(!isShared(leftover(of: subject), of: owner, session)) }
    }
    let backend = SessionScript.holding(.sample(1, subject: assumed, issuedAt: .sample))
    let otherBackend = Subject(issuer: "https://elsewhere.example.com", id: "2482", isIssuerAssumed: true)
    #expect(!isShared(leftover(of: otherBackend, from: elsewhere), of: other, backend), "two are two providers")
  }

  @Test("is possible in the same account, and at the same provider, if one of the two users is unknown")
  func unknown() {
    for (session, subject) in [
      (SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample)), Subject?.some(ada)),
      (SessionScript.holding(), nil),
    ] {
      #expect(isShared(leftover(of: subject), session) && isShared(leftover(of: subject), of: other, session))
      #expect(isShared(leftover(of: subject, from: elsewhere), session), "its provider has moved")
      #expect(!isShared(leftover(of: subject, from: elsewhere), of: other, session))
    }
    #expect(isShared(leftover(of: .sample), SessionScript()), "nothing is read yet")
  }

  @Test("is possible under a lock, and not once the session is over or signed out")
  func states() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    #expect(session.machine.credentialState == .notHeld(.locked) && isShared(leftover(of: .sample), session))
    session.asks(.signOut(revoke: false))
    #expect(isShared(leftover(of: .sample), session), "it is not on record yet")
    session.removes()
    #expect(!isShared(leftover(of: .sample), session))
    var ended = SessionScript(remembered: RememberedAccount(subject: .sample))
    let end = EndRecord(reason: .refreshTokenRejected, at: .sample, fingerprint: nil)
    ended.reads(.ended(end))
    #expect(!isShared(leftover(of: .sample), ended))
  }

  @Test("is possible while somebody signs in, whoever that is, in that account and at that provider")
  func signingIn() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    #expect(!isShared(leftover(of: .sample), session))
    let id = session.signsIn()
    #expect(isShared(leftover(of: .sample), session))
    session.brings(.sample(1, issuedAt: .sample), to: id)
    #expect(session.state == .unauthenticated(signedOut: false) && isShared(leftover(of: .sample), session))
    session.writes()
    #expect(isShared(leftover(of: .sample), session) && !isShared(leftover(of: ada), session))
  }

  @Test("The result of an old refresh is left over as its user's; a result for another user is left alone")
  func late() {
    for (named, isLeft) in [(Subject?.none, true), (.sample, true), (ada, false)] {
      var session = SessionScript.holding()
      session.passes(RefreshSettings.leastGap)
      session.asks(.refresh)
      session.signsIn(with: .sample(5, subject: ada, issuedAt: session.now))
      session.isGranted(.sample(2, subject: named))
      let leftovers = session.effects.compactMap { if case .revoke(let leftover) = $0 { leftover } else { nil } }
      #expect(leftovers.map(\.subject) == (isLeft ? [.sample] : []))
    }
  }
}

import HearthCore
import TestSupport
import Testing

@Suite("A session that sends the ID token to APIs")
struct IDTokenTests {
  private let settings = SessionSettings(bearer: .idToken)

  private var held: Credential {
    var credential = Credential.sample(1, issuedAt: .sample)
    credential.grant.idToken = .sample(5001)
    return credential
  }

  private func response(_ number: Int, idToken: Token?, lasting: Duration? = nil) -> TokenResponse {
    var response = TokenResponse.sample(number)
    (response.idToken, response.idTokenLifetime) = (idToken, lasting)
    return response
  }

  /// The first refresh, requested by the user a minute after the start, has returned no new ID token.
  private func unrenewed(_ idToken: Token? = nil) -> SessionScript {
    var session = SessionScript.holding(held, settings)
    session.passes(.seconds(60))
    session.asks(.refresh)
    session.isGranted(response(2, idToken: idToken))
    session.writes()
    return session
  }

  @Test(
    "lasts as long as the ID token, or as the answer says if that has no lifetime",
    arguments: [(.seconds(100), .seconds(100)), (nil, .seconds(3600))] as [(Duration?, Duration)])
  func lifetime(answered: Duration?, expected: Duration) {
    let response = response(2, idToken: .sample(5002), lasting: answered)
    let grant = Grant(response, after: held.grant, bearer: .idToken, receivedAt: .sample)
    #expect(grant.lifetime == expected)
    let access = Grant(response, after: held.grant, bearer: .accessToken, receivedAt: .sample)
    #expect(access.lifetime == .seconds(3600))
  }

  @Test("is refreshed before the ID token expires")
  func refreshesAhead() {
    var session = SessionScript.holding(held, settings)
    session.comesDue()
    session.isGranted(response(2, idToken: .sample(5002), lasting: .seconds(100)))
    session.writes()
    let granted = session.now
    session.comesDue()
    #expect(session.attempts.count == 2 && session.now < granted + .seconds(100))
    #expect(session.snapshot.history.lastOutcome == .success)
  }

  @Test(
    "keeps the rest of an answer without a new ID token, does not extend the old one, and says what to fix",
    arguments: [nil, Token.sample(5001)])
  func noNewIDToken(answered: Token?) {
    var session = SessionScript.holding(held, settings)
    session.passes(.seconds(60))
    let refresh = session.asks(.refresh)
    session.isGranted(response(2, idToken: answered))
    var kept = Credential.sample(2, issuedAt: .sample)
    kept.grant.idToken = .sample(5001)
    #expect(session.effects == [.write(kept, generation: 0)])
    session.writes()
    #expect(session.snapshot.history.lastOutcome == .misconfigured)
    #expect(session.snapshot.action == .fixConfiguration)
    #expect(session.snapshot.message.contains("a new ID token"))
    guard session.answer(to: refresh)?.failure?.kind == .refreshUnavailable else {
      Issue.record("the refresh counts as one")
      return
    }
    #expect(session.answer(asking: .token(minValidity: nil)) == .token(kept, as: .idToken))
    session.comesDue()
    #expect(session.effects == [.refresh(kept, generation: 0)])
  }

  @Test("gives nothing out when an ID token that nothing renews has expired, and does not end")
  func runsOut() {
    var session = unrenewed()
    while session.now < .sample + .seconds(3600) {
      session.comesDue()
      session.isGranted(response(3, idToken: nil))
      session.writes()
    }
    guard session.answer(asking: .token(minValidity: nil))?.failure?.kind == .refreshUnavailable else {
      Issue.record("a token that has run out was given")
      return
    }
    #expect(session.state == .authenticated)
  }

  @Test("is not ended by 401s to an ID token that nothing renews, and asks no more often than any broken configuration")
  func refusedAgainAndAgain() {
    var session = unrenewed(.sample(5001))
    for number in 3..<723 {
      session.passes(.seconds(10))
      session.asks(.reportUnauthorized(APIRejection(Token.sample(5001).fingerprint)))
      session.asks(.token(minValidity: nil))
      guard session.snapshot.isRefreshing else { continue }
      session.isGranted(response(number, idToken: nil))
      session.writes()
    }
    let gaps = zip(session.attempts, session.attempts.dropFirst()).map { $1 - $0 }
    #expect(gaps.count > 20 && gaps.allSatisfy { $0 >= .seconds(150) })
    session.asks(.refresh)
    session.isGranted(response(800, idToken: .sample(5800), lasting: .seconds(3600)))
    session.writes()
    #expect(session.token == .sample(5800))
    #expect(session.snapshot.action == nil)
  }

  @Test(
    "does not end when a refused token that no refresh renewed is refused again, and does not give it out"
  )
  func refusedTwice() {
    let refusal = SessionCall.reportUnauthorized(APIRejection(Token.sample(5001).fingerprint))
    var session = SessionScript.holding(held, settings)
    session.asks(refusal)
    session.isGranted(response(2, idToken: nil))
    session.writes()
    #expect(session.answer(asking: refusal) == .done)
    #expect(session.effects.isEmpty)
    #expect(session.state == .authenticated)
    #expect(session.token == nil)
  }

  @Test("counts an ID token that a refresh returns again as unchanged only if it is the bearer")
  func keeps() {
    let old = Grant(accessToken: .sample(1), idToken: .sample(11), issuedAt: .sample, expiresAt: nil)
    let same = Grant(accessToken: .sample(2), idToken: .sample(11), issuedAt: .sample, expiresAt: nil)
    #expect(same.keepsIDToken(of: old, as: .idToken) && !same.keepsIDToken(of: old, as: .accessToken))
    let other = Grant(accessToken: .sample(2), idToken: .sample(12), issuedAt: .sample, expiresAt: nil)
    #expect(!other.keepsIDToken(of: old, as: .idToken))
    let bare = Grant(accessToken: .sample(2), issuedAt: .sample, expiresAt: nil)
    #expect(!bare.keepsIDToken(of: bare, as: .idToken))
  }
}

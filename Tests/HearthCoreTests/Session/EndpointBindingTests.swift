import HearthCore
import TestSupport
import Testing

@Suite("A grant and the other endpoints that receive its tokens") struct EndpointBindingTests {
  private let own = Origin.sample
  private let revocation: Origin
  private let stranger: Origin

  init() throws {
    revocation = try HTTPURL("https://revoke.example.com/").origin
    stranger = try HTTPURL("https://other.example.net/revoke").origin
  }

  private func credential(_ number: Int = 1, knowing origins: Set<Origin>?) -> Credential {
    var credential = Credential.sample(number, issuedAt: .sample)
    credential.origins = origins
    return credential
  }

  private func response(_ number: Int, endpoints: Set<Origin>) -> TokenResponse {
    var response = TokenResponse.sample(number)
    response.origins = endpoints
    return response
  }

  @Test("tokens may go only to the token endpoint's origin and to those known at sign-in")
  func reach() {
    let credential = credential(knowing: [revocation])
    #expect(credential.mayReach(own) && credential.mayReach(revocation) && !credential.mayReach(stranger))
    #expect(self.credential(knowing: nil).mayReach(stranger))
  }

  @Test("a newly configured endpoint is reported in the status, and the token is still refreshed")
  func configured() throws {
    let binding = TokenBinding(named: own, endpoints: [own, stranger])
    var session = SessionScript.holding(credential(knowing: [own]), SessionSettings(binding: binding))
    #expect(session.snapshot.action == .fixConfiguration && session.state == .authenticated)
    #expect(session.snapshot.message.contains(stranger.description))
    #expect(session.snapshot.message.contains("Sign in again or fix the configuration"))
    // Only a token endpoint at another origin blocks the outbox.
    #expect(!session.snapshot.isForeign && session.token == .sample(1))
    session.refreshes(to: 2)
    #expect(session.token == .sample(2) && session.snapshot.action == .fixConfiguration)
    let known = SessionScript.holding(credential(knowing: [own, stranger]), SessionSettings(binding: binding))
    #expect(known.snapshot.action == nil)
  }

  @Test("a newly discovered endpoint is reported in the status after the refresh that found it, but not trusted")
  func discovered() throws {
    let binding = TokenBinding(discoveredBy: Subject.sample.issuer, at: own)
    var session = SessionScript.holding(credential(knowing: [own, revocation]), SessionSettings(binding: binding))
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isGranted(response(2, endpoints: [own, revocation]))
    session.writes()
    #expect(session.snapshot.action == nil)
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isGranted(response(3, endpoints: [own, stranger]))
    guard case .write(let written, _)? = session.effects.first else {
      Issue.record("nothing was written")
      return
    }
    #expect(written.origins == [own, revocation])
    session.writes()
    #expect(session.snapshot.action == .fixConfiguration && session.token == .sample(3))
    #expect(session.snapshot.message.contains(stranger.description))
  }

  @Test("are those of the next refresh if the file knows none")
  func olderFile() {
    let binding = TokenBinding(discoveredBy: Subject.sample.issuer, at: own)
    var session = SessionScript.holding(credential(knowing: nil), SessionSettings(binding: binding))
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isGranted(response(2, endpoints: [own, revocation]))
    session.writes()
    #expect(session.snapshot.action == nil)
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isGranted(response(3, endpoints: [own, stranger]))
    session.writes()
    #expect(session.snapshot.action == .fixConfiguration)
  }

  @Test("are replaced by a new sign-in")
  func signIn() {
    let binding = TokenBinding(named: own, endpoints: [own, stranger])
    var session = SessionScript.holding(credential(knowing: [own]), SessionSettings(binding: binding))
    session.signsIn(with: credential(7, knowing: [own, stranger]))
    session.writes()
    #expect(session.snapshot.action == nil && session.token == .sample(7))
  }

  @Test("are written to disk when the owner is asked for")
  func identified() {
    var unknown = credential(knowing: nil)
    unknown.subject = nil
    var session = SessionScript.holding(unknown, SessionSettings(binding: TokenBinding(named: own)))
    session.isIdentified(as: .sample, at: own, endpoints: [own, revocation])
    #expect(session.effects == [.write(credential(knowing: [own, revocation]), generation: 0)])
  }
}

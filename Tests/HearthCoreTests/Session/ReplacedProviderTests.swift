import TestSupport
import Testing

@testable import HearthCore

@Suite("A session whose issuer or client is replaced") struct ReplacedProviderTests {
  private let other: Origin
  private let settings: SessionSettings

  init() throws {
    other = try HTTPURL("https://other.example.net/token").origin
    settings = SessionSettings(binding: TokenBinding(named: other, endpoints: [other]))
  }

  private var held: SessionScript {
    .holding(.sample(1, subject: nil, issuedAt: .sample), SessionSettings(binding: TokenBinding(named: .sample)))
  }

  private func isReconfigured(_ session: inout SessionScript, to settings: SessionSettings) {
    session.take(.configured(settings, changed: [.endpoint, .provider]))
  }

  private func isForeign(_ session: SessionScript) -> Bool {
    session.snapshot.isForeign && session.snapshot.action == .fixConfiguration
  }

  @Test("keeps its grant, asks for the configuration to be fixed, and continues once it is")
  func foreign() {
    var session = held
    isReconfigured(&session, to: settings)
    #expect(isForeign(session) && session.state == .authenticated && session.token == .sample(1))
    isReconfigured(&session, to: SessionSettings(binding: TokenBinding(named: .sample)))
    #expect(session.snapshot.action == nil)
  }

  @Test("lets its refresh finish, and does not count answers of the former provider for the new one")
  func landing() {
    var session = held
    let call = session.asks(.refresh)
    isReconfigured(&session, to: settings)
    session.isGranted(TokenResponse.sample(2))
    session.writes()
    #expect(session.answers[call] == [.done] && session.token == .sample(2))
    #expect(isForeign(session) && session.machine.settings.binding == settings.binding)
    session.refreshes(to: 3)
    #expect(session.machine.settings.binding?.origin == .sample, "what the new one grants names its place")
  }

  @Test("drops what the former provider reports about the user, and the place named by an import from it")
  func late() {
    var session = held
    let generation = session.machine.epoch.generation
    let imported = session.asks(.adopt(.sample(5, issuedAt: .sample)))
    session.take(.roomMade(imported, .success(())))
    isReconfigured(&session, to: settings)
    session.take(.identified(generation: generation, .sample, origin: .sample, origins: [.sample]))
    #expect(session.machine.settings.binding == settings.binding && session.snapshot.subject == nil)
    session.brings(.sample(5, issuedAt: .sample), to: imported)
    session.writes()
    #expect(isForeign(session) && session.token == .sample(5))
  }

  @Test("requests a client's own grant if nobody has to sign in any more, and not if somebody has to")
  func client() {
    var session = SessionScript(settings)
    session.reads(.neverSignedIn)
    #expect(session.state == .unauthenticated(signedOut: false))
    isReconfigured(&session, to: SessionSettings(renewsWithoutRefreshToken: true))
    session.reads(.neverSignedIn)
    #expect(session.attempts.count == 1 && session.state == .authenticated)
    isReconfigured(&session, to: settings)
    session.reads(.neverSignedIn)
    #expect(session.state == .unauthenticated(signedOut: false))
    session.isGranted(.sample(2, subject: nil))
    let isRevoked = session.effects.contains { if case .revoke = $0 { true } else { false } }
    #expect(isRevoked && session.state == .unauthenticated(signedOut: false))
  }

  @Test("tries again after an end that a client recovers from by itself, and stays signed out")
  func ended() {
    for (reason, isTriedAgain) in [(EndReason.refreshTokenRejected, true), (.signedOut, false)] {
      let end = EndRecord(reason: reason, at: .sample, fingerprint: nil)
      var session = SessionScript(settings, remembered: RememberedAccount(end: end))
      session.reads(.ended(end))
      isReconfigured(&session, to: SessionSettings(renewsWithoutRefreshToken: true))
      if isTriedAgain { session.reads(.ended(end)) }
      #expect((session.attempts.count == 1) == isTriedAgain)
    }
  }
}

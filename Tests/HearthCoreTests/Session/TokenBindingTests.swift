import HearthCore
import TestSupport
import Testing

@Suite("A grant and its place of origin") struct TokenBindingTests {
  private let own = Origin.sample
  private let other: Origin

  init() throws {
    other = try HTTPURL("https://other.example.net/token").origin
  }

  private func credential(_ issuer: String?, _ origin: Origin?) -> Credential {
    var credential = Credential.sample(1, subject: issuer.map { Subject(issuer: $0, id: "2482") }, issuedAt: .sample)
    credential.origin = origin
    return credential
  }

  @Test("belong together if the origins are the same, whatever the issuer is")
  func same() {
    for binding in [TokenBinding(named: own), TokenBinding(discoveredBy: own.description, at: own)] {
      #expect(binding.mismatch(of: credential(nil, own)) == nil)
      #expect(binding.mismatch(of: credential("https://users.example.org", own)) == nil)
    }
  }

  @Test("do not belong together if the origins differ, and both are named")
  func different() throws {
    let refusal = try #require(TokenBinding(named: own).mismatch(of: credential(own.description, other)))
    #expect(refusal.contains(own.description) && refusal.contains(other.description))
  }

  @Test("are compared by the issuer if the grant has no origin")
  func withoutOrigin() throws {
    for binding in [TokenBinding(named: own), TokenBinding(discoveredBy: own.description, at: own)] {
      #expect(binding.mismatch(of: credential(nil, nil)) == nil)
      #expect(binding.mismatch(of: credential(own.description, nil)) == nil)
      let refusal = try #require(binding.mismatch(of: credential(other.description, nil)))
      #expect(refusal.contains(own.description) && refusal.contains(other.description))
    }
    let binding = TokenBinding(named: own, isRecognizedByIssuer: false)
    #expect(binding.mismatch(of: credential(other.description, nil)) == nil)
  }

  @Test("are compared by the issuer until discovery has named the origin, and by the origin from then on")
  func discovered() {
    var binding = TokenBinding(discoveredBy: own.description, at: own)
    #expect(binding.mismatch(of: credential(own.description, other)) == nil)
    #expect(binding.mismatch(of: credential(nil, other)) == nil)
    #expect(binding.mismatch(of: credential(other.description, other)) != nil)
    binding.resolve(to: own)
    #expect(binding.mismatch(of: credential(own.description, other)) != nil)
    #expect(binding.mismatch(of: credential(nil, other)) != nil)
    #expect(binding.mismatch(of: credential(other.description, nil)) != nil)
  }

  @Test("belong together if the issuer is one of the many that the configured name is used for")
  func tenants() {
    let tenant = own.description + "/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"
    var binding = TokenBinding(discoveredBy: own.description + "/common/v2.0", at: own)
    #expect(binding.mismatch(of: credential(tenant, nil)) == nil)
    #expect(binding.mismatch(of: credential(tenant, other)) == nil)
    #expect(binding.mismatch(of: credential(own.description + "/evil/v2.0", nil)) != nil)
    binding.resolve(to: own)
    #expect(binding.mismatch(of: credential(tenant, nil)) == nil)
    #expect(binding.mismatch(of: credential(tenant, own)) == nil)
    #expect(binding.mismatch(of: credential(tenant, other)) != nil)
  }

  @Test("are reported in the status as soon as they do not belong together, before a refresh is tried")
  func status() {
    let session = SessionScript.holding(
      .sample(1, issuedAt: .sample), SessionSettings(binding: TokenBinding(named: other)))
    #expect(session.attempts.isEmpty && session.state == .authenticated)
    #expect(session.snapshot.action == .fixConfiguration)
    #expect(session.snapshot.message.contains(own.description))
    #expect(session.snapshot.message.contains(other.description))
    #expect(session.effects.isEmpty)
    let binding = SessionScript.holding(
      .sample(1, issuedAt: .sample), SessionSettings(binding: TokenBinding(named: own)))
    #expect(binding.snapshot.action == nil && binding.effects.isEmpty)
  }

  @Test("are reported once discovery has answered, if nothing else shows it")
  func statusAfterDiscovery() {
    let binding = TokenBinding(discoveredBy: Subject.sample.issuer, at: other)
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), SessionSettings(binding: binding))
    #expect(session.effects == [.identify(.sample(1, issuedAt: .sample), generation: 0)])
    #expect(session.snapshot.action == nil)
    session.isIdentified(as: nil, at: nil)
    #expect(session.snapshot.action == nil)
    session.isIdentified(as: nil, at: other)
    #expect(session.snapshot.action == .fixConfiguration && session.events.contains(.statusChanged))
  }

  @Test("are bound together on disk when a grant without an origin is adopted")
  func binds() {
    let owner = Subject(issuer: other.description, id: "2482")
    var session = SessionScript.holding(credential(nil, nil), SessionSettings(binding: TokenBinding(named: own)))
    #expect(session.effects == [.identify(credential(nil, nil), generation: 0)])
    session.isIdentified(as: owner, at: own)
    #expect(session.effects == [.write(credential(owner.issuer, own), generation: 0)])
    #expect(session.snapshot.action == nil)
    session.writes()
    session.isHinted(.found(credential(owner.issuer, own)))
    #expect(session.effects.isEmpty)
  }

  @Test("are not bound together if the issuer is another one's")
  func bindsNothingForeign() {
    var session = SessionScript.holding(
      credential(other.description, nil), SessionSettings(binding: TokenBinding(named: own)))
    #expect(session.effects.isEmpty && session.snapshot.action == .fixConfiguration)
    session.isIdentified(as: nil, at: own)
    #expect(session.effects.isEmpty)
  }
}

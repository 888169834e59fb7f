import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

extension HTTPResponse {
  /// A provider's answer as it comes over the wire.
  init(_ answer: ProviderResponse, body: String? = nil, receivedAt: Timestamp) {
    self.init(
      status: answer.status,
      headers: answer.headers.sorted { $0.key < $1.key }.map { APIRequest.Header(name: $0.key, value: $0.value) },
      body: Array((body ?? answer.body()).utf8), receivedAt: receivedAt)
  }
}

extension TokenResponseReader {
  /// As an account with this provider's preset reads; without one for what stands in between.
  init(presetOf answer: ProviderResponse, origin: Origin = .sample) {
    let preset = ProviderPreset.named(answer.provider)
    let isFirebase = answer.provider == ProviderPreset.firebase.name
    self.init(
      dialect: isFirebase ? .firebase : .oauth, origin: origin, issuer: DefaultIssuer(assumed: origin),
      defaultLifetime: preset?.defaultLifetime, finalErrors: preset?.finalErrors ?? [],
      rules: preset?.responseRules ?? [], redactor: Redactor(EmptyCollection<Secret>()))
  }

  func outcome(of answer: HTTPResponse) -> RefreshOutcome {
    do throws(RefreshFailure) {
      return .granted(try read(answer))
    } catch {
      return .failed(error)
    }
  }
}

/// What Hearth makes of the answers of real providers: `ProviderResponse.all`, read and taken to a session.
@Suite("What providers answer") struct ProviderSuite {
  private func outcome(_ answer: ProviderResponse) -> RefreshOutcome {
    TokenResponseReader(presetOf: answer).outcome(of: HTTPResponse(answer, receivedAt: .sample))
  }

  @Test("each answer is read for what its provider means by it", arguments: ProviderResponse.all)
  func reading(_ answer: ProviderResponse) {
    let meaning: ProviderResponse.Meaning? =
      switch outcome(answer) {
      case .granted(let response):
        .grant(rotated: response.refreshToken != nil, seconds: response.lifetime.map { Int($0.components.seconds) })
      case .failed(.rejected(.refreshToken, _)): .ends
      case .failed(.rejected(.accountDisabled, _)): .endsDisabled
      case .failed(.misconfigured): .misconfigured
      case .failed(.unclear): .unclear
      case .failed(.unavailable): .unavailable
      case .failed(.unreachable), .failed(.unanswered), .told, .notAsked, .superseded: nil
      }
    #expect(meaning == answer.meaning)
  }

  @Test(
    "a session takes each answer as it should: state, reason, action and next attempt", arguments: ProviderResponse.all)
  func session(_ answer: ProviderResponse) {
    var session = SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample))
    session.comesDue()
    let asked = session.now
    session.ends(outcome(answer))
    switch answer.meaning {
    case .grant: session.writes()
    case .ends, .endsDisabled:
      // The file holds no newer grant, and the end is written down before it is told.
      session.reads(.found(.sample(1, subject: nil, issuedAt: .sample)))
      session.writesEnd()
    case .misconfigured, .unclear, .unavailable: break
    }
    let snapshot = session.snapshot
    let wait = snapshot.nextAttemptAt.map { $0 - asked }
    switch answer.meaning {
    case .grant(let rotated, let seconds):
      #expect(snapshot.state == .authenticated && snapshot.action == nil && snapshot.history.failures == 0)
      guard case .active(let active) = session.machine.credentialState else {
        Issue.record("nothing is held")
        return
      }
      #expect((active.grant.refreshToken == .sample(1001)) != rotated)
      // Due before it runs out; what nobody tells is taken to last an hour.
      let refreshLife = active.grant.refreshExpiresAt.map { $0 - asked } ?? .seconds(1 << 32)
      let life = min(Duration.seconds(seconds ?? 3600), refreshLife)
      #expect(wait.map { $0 > life / 2 && $0 < life } == true, "\(String(describing: wait))")
    case .ends:
      #expect(snapshot.state == .reauthRequired(.refreshTokenRejected) && snapshot.action == .signIn && wait == nil)
    case .endsDisabled:
      #expect(snapshot.state == .reauthRequired(.accountDisabled) && snapshot.action == .signIn && wait == nil)
    case .misconfigured:
      #expect(snapshot.state == .authenticated && snapshot.action == .fixConfiguration)
      #expect(wait.map { .seconds(150) ... .seconds(300) ~= $0 } == true)
    case .unclear, .unavailable:
      #expect(snapshot.state == .authenticated && snapshot.action == nil && session.token != nil)
      let asks = HTTPResponse(answer, receivedAt: .sample).retryAfter ?? .zero
      #expect(wait.map { asks...max(asks, .seconds(1)) ~= $0 } == true, "\(String(describing: wait))")
    }
  }

  @Test(
    "what ends nothing ends nothing however often it is repeated, and the waits grow as far as they may",
    arguments: ProviderResponse.all.filter { $0.meaning == .unclear || $0.meaning == .unavailable })
  func repetition(_ answer: ProviderResponse) {
    var session = SessionScript.holding()
    session.comesDue()
    var wait = Duration.zero
    for _ in 0..<30 {
      let asked = session.now
      session.ends(outcome(answer))
      wait = session.snapshot.nextAttemptAt.map { $0 - asked } ?? .zero
      session.comesDue()
    }
    #expect(session.state == .authenticated && session.attempts.count >= 30)
    let longest: Duration = answer.meaning == .unclear ? .seconds(3600) : .seconds(300)
    #expect(longest / 2...longest ~= wait, "\(wait)")
  }

  @Test("no answer's token comes out in what is said of it", arguments: ProviderResponse.all)
  func secrecy(_ answer: ProviderResponse) {
    if case .failed(let failure) = outcome(answer) { #expect(!failure.message.contains("made-up")) }
  }

  @Test("each provider has what it takes to judge it: a grant, a refusal and a source for all of it")
  func completeness() {
    for preset in ProviderPreset.all {
      let answers = ProviderResponse.all.filter { $0.provider == preset.name }
      #expect(answers.contains { $0.situation == .rotated || $0.situation == .renewed }, "\(preset.name)")
      #expect(answers.contains { $0.situation == .refused && $0.meaning == .ends }, "\(preset.name)")
      #expect(answers.contains { $0.situation == .client }, "\(preset.name)")
    }
    #expect(ProviderResponse.all.allSatisfy { $0.source.hasPrefix("https://") })
    #expect(Set(ProviderResponse.all.map(\.provider)) == Set(ProviderPreset.names + ["gateway"]))
    #expect(Set(ProviderResponse.all.map(\.situation)) == Set(ProviderResponse.Situation.allCases))
  }
}

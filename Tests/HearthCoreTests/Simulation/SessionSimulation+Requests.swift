import HearthCore
import TestSupport

/// What happens to a request on its way to the provider and back.
extension SessionSimulation {
  mutating func send(_ credential: Credential?, _ generation: Int, asksTime: Bool = false) throws(Violation) {
    try checkSending(credential)
    tally[.request] += 1
    let latency = Duration.milliseconds(chances(1, in: 6) ? Int.random(in: 0...40_000, using: &random) : 120)
    let timeout = elapsed + settings.refresh.requestTimeout
    var flight = Flight(
      credential: credential, asksTime: asksTime, generation: generation, process: process, sentAt: elapsed,
      handledAt: elapsed + latency / 2, answeredAt: Swift.min(elapsed + latency, timeout),
      outcome: .failed(.unanswered(message: "timeout")))
    let fate = weather.draw(answers, at: now, &random)
    if case .answer = fate, latency < .seconds(1) {
      ledger.isQuietSinceSending = true
    } else {
      ledger.hadTrouble = true
    }
    switch fate {
    case .answer: break
    case .loseReply:
      flight.answeredAt = Swift.min(elapsed + latency, timeout)
      flight.outcome = .failed(.unanswered(message: "reset"))
      tally[.lostReply] += 1
    case .loseRequest:
      flight.handledAt = nil
      flight.outcome = .failed(.unanswered(message: "reset"))
    case .fail(let failure):
      flight.handledAt = nil
      flight.outcome = failure
    }
    if flight.handledAt != nil, elapsed + latency >= timeout { tally[.lostReply] += 1 }
    if case .failed(.unanswered("timeout")) = flight.outcome, elapsed + latency < timeout {
      flight.outcome = .notAsked(.full)  // Replaced when the provider has handled it.
    }
    note("sends \(credential?.grant.refreshToken?.fingerprint.description ?? "-"), \(flight.outcome)")
    flights.append(flight)
  }

  mutating func handle(_ index: Int) throws(Violation) {
    flights[index].handledAt = nil
    let flight = flights[index]
    let outcome: RefreshOutcome
    if flight.asksTime {
      outcome = .told(serverTime)
    } else if let token = flight.credential?.grant.refreshToken {
      do throws(SimulatedProvider.Refusal) {
        let issued = try provider.refresh(token, at: elapsed)
        flights[index].granted = issued.refreshToken
        flights[index].isMixedUp = isMixedUp(issued)
        var named = issued
        if flights[index].isMixedUp { named.subject = Subject(issuer: Subject.sample.issuer, id: "other") }
        // Something on the way, or the provider itself, spoils only the access token.
        let isSpoiled = weather == .strange && chances(1, in: 2)
        if isSpoiled { ledger.hadTrouble = true }
        outcome = answers.granting(named, serverTime: serverTime, receivedAt: now, isSpoiled: isSpoiled, &random)
      } catch {
        if case .reuse = error { try noteReuse(of: token) }
        (outcome, flights[index].isFinal) = answers.refusing(at: now, &random)
      }
    } else {
      guard settings.renewsWithoutRefreshToken else { return }
      outcome = answers.granting(
        provider.grantToClient(at: elapsed), serverTime: serverTime, receivedAt: now, &random)
    }
    note("provider: \(outcome)")
    let isHeard: Bool
    if case .notAsked = flight.outcome {
      isHeard = flight.process == process && elapsed <= flight.answeredAt
    } else {
      isHeard = false
    }
    if isHeard {
      flights[index].outcome = outcome
    } else {
      flights[index].isFinal = false
    }
    if !isHeard, case .granted = outcome {
      // The provider has rotated the token, and nobody here knows.
      flights[index].granted = nil
      if let token = flight.credential?.grant.refreshToken, let family = provider.family(of: token.fingerprint) {
        ledger.excusedFamilies.insert(family)
      }
    }
    if flight.process != process { flights.remove(at: index) }
  }

  /// A provider that detects reuse ends the family. Only a lost answer excuses that.
  mutating func noteReuse(of token: Token) throws(Violation) {
    let isExcused = provider.family(of: token.fingerprint).map { ledger.excusedFamilies.contains($0) } ?? false
    guard isExcused || ledger.excused.contains(token.fingerprint) else {
      throw Violation("a refresh token was spent twice, though its answer had arrived: \(token.fingerprint)")
    }
    tally[.lostInFlight] += 1
  }

  mutating func answer(_ index: Int) throws(Violation) {
    var flight = flights[index]
    if flight.handledAt != nil {
      // The provider handles it after the client has given up.
      flights[index].answeredAt = .seconds(1 << 40)
    } else {
      flights.remove(at: index)
    }
    if case .notAsked = flight.outcome { flight.outcome = .failed(.unanswered(message: "timeout")) }
    ledger.inFlight -= 1
    ledger.answered = flight
    try deliver(.refreshEnded(generation: flight.generation, flight.outcome))
    ledger.answered = nil
  }

  /// A misconfigured provider may name another user than the one who signed in.
  private mutating func isMixedUp(_ issued: TokenResponse) -> Bool {
    guard weather == .misconfigured, answers.tellsIssuer, chances(1, in: 2) else { return false }
    ledger.others.insert(issued.accessToken.fingerprint)
    if let token = issued.refreshToken { ledger.others.insert(token.fingerprint) }
    return true
  }

  /// A new sign-in at the provider. If nothing names the issuer, the origin of the token endpoint is used.
  mutating func signedIn() -> Credential {
    let isAssumed = chances(1, in: 3)
    var credential = provider.signIn(at: elapsed, now)
    if isAssumed {
      credential.subject = Subject(issuer: "https://tokens.example.com", id: Subject.sample.id, isIssuerAssumed: true)
    }
    return credential
  }

  /// The provider's clock follows the time that passes, whatever this machine's is set to.
  var serverTime: Timestamp { Timestamp.sample + elapsed + .seconds(30) }
}

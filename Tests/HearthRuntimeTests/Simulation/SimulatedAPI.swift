import HearthCore
import TestSupport

/// How an API is disposed.
enum OriginMood: CaseIterable {
  /// Answers, for the most part.
  case fine
  /// Answers anything.
  case flaky
  /// Loses requests and answers.
  case lossy
  /// Takes long, and often too long.
  case slow
  case down
  /// Answers 401 to every token.
  case refusing
  /// Something before it asks for a sign-in.
  case portal
  /// A gateway before it answers one request or the other with a page.
  case mixed
}

/// A request on its way.
struct APIFlight {
  let trackedRequest: TrackedRequest?
  let account: SimulatedAccount?
  let token: Fingerprint?
  let sentAt: Duration
  var answer: APIResponse?
  /// The server's clock as it answered.
  var dateSentAt = Duration.zero
  var waiting: CheckedContinuation<Result<APIResponse, ExchangeFailure>, Never>?
}

/// The way to the APIs, and back.
final class SimulatedAPI: APIEndpoint, @unchecked Sendable {
  private unowned let world: OutboxSimulation
  private let daemon: Int

  init(_ world: OutboxSimulation, _ daemon: Int) {
    self.world = world
    self.daemon = daemon
  }

  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    guard world.lives(daemon) else { throw .notSent(message: "the daemon is gone") }
    let id = world.send(request, bearer?.fingerprint, timeout)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { world.flights[id]?.waiting = $0 }
    } onCancel: {
      world.giveUp(id)
    }
    return try outcome.get()
  }
}

extension OutboxSimulation {
  private enum Fate {
    case notSent, lost, answerLost, answered
  }

  var latency: Duration {
    .milliseconds(chances(1, in: 8) ? number(0...40_000) : number(10...200))
  }

  var diskTime: Duration { .milliseconds(chances(1, in: 12) ? number(0...4000) : number(0...3)) }

  private func fate(_ mood: OriginMood) -> Fate {
    guard isOnline else { return .notSent }
    switch mood {
    case .down: return .notSent
    case .lossy: return [.lost, .answerLost, .notSent, .answered].randomElement(using: &random) ?? .lost
    case .fine, .flaky, .slow, .refusing, .portal, .mixed: return .answered
    }
  }

  /// A request leaves the daemon.
  func send(_ request: APIRequest, _ token: Fingerprint?, _ timeout: Duration) -> Int {
    lastFlight += 1
    let id = lastFlight
    let trackedRequest = trackedRequest(at: request.url.target)
    let account: SimulatedAccount? = trackedRequest.flatMap(self.account(of:))
    if let trackedRequest { checkSending(request, trackedRequest, token) }
    tally[.request] += 1
    flights[id] = APIFlight(trackedRequest: trackedRequest, account: account, token: token, sentAt: elapsed)
    trackedRequest?.flights.insert(id)
    trackedRequest?.sentSince = trackedRequest?.sentSince ?? elapsed
    let mood = origins[request.url.origin] ?? .down
    let fate = fate(mood)
    note(
      "\(account?.name.description ?? "?"): sends \(request.method) \(request.url) with \(token?.description ?? "-"), \(mood) \(fate)"
    )
    let time = mood == .slow ? .milliseconds(number(1000...60_000)) : latency
    switch fate {
    case .notSent:
      at(elapsed + .milliseconds(5)) { self.answer(id, .failure(.notSent(message: "no connection"))) }
    case .lost:
      at(elapsed + Swift.min(time, timeout)) { self.answer(id, .failure(.unanswered(message: "reset"))) }
    case .answered, .answerLost:
      let origin = request.url.origin
      at(elapsed + time / 2) {
        let answer = self.handle(request, trackedRequest, account, token, self.origins[origin] ?? .fine)
        self.flights[id]?.answer = answer
        self.flights[id]?.dateSentAt = self.elapsed + (self.clockErrors[origin] ?? .zero)
      }
      at(elapsed + Swift.min(time, timeout)) {
        guard fate == .answered, let answer = self.flights[id]?.answer else {
          return self.answer(id, .failure(.unanswered(message: "timeout")))
        }
        self.answer(id, .success(answer))
      }
    }
    return id
  }

  func trackedRequest(at path: String) -> TrackedRequest? {
    guard path.hasPrefix("/requests/"), let number = Int(path.dropFirst(10)) else { return nil }
    return trackedRequests.indices.contains(number) ? trackedRequests[number] : nil
  }

  func trackedRequest(of item: OutboxItem) -> TrackedRequest? {
    (try? HTTPURL(item.url)).flatMap { trackedRequest(at: $0.target) }
  }

  /// The API has got the request, whether or not anybody still waits.
  private func handle(
    _ request: APIRequest, _ trackedRequest: TrackedRequest?, _ account: SimulatedAccount?, _ token: Fingerprint?,
    _ mood: OriginMood
  ) -> APIResponse {
    guard let trackedRequest else { return APIResponse(status: 404) }
    if mood == .portal { return APIResponse(status: chances(1, in: 2) ? 511 : 407) }
    if mood == .refusing || token.flatMap({ account?.isValid($0, at: elapsed) }) != true {
      return APIResponse(status: 401)
    }
    if mood == .mixed, chances(1, in: 2) {
      if chances(1, in: 4) { perform(trackedRequest, request) }
      return APIResponse(status: 200, headers: [Self.page])
    }
    let status: Int
    switch mood {
    case .flaky: status = Self.anything.randomElement(using: &random) ?? 200
    case .fine, .slow, .lossy, .down, .refusing, .portal, .mixed: status = chances(1, in: 30) ? 503 : 200
    }
    // A server that fails may have done it all the same.
    if (200...299).contains(status) || status >= 500 && chances(1, in: 4) { perform(trackedRequest, request) }
    let asks = [403, 409, 413, 429, 503].contains(status)
    let retryAfter: Duration? =
      asks && chances(1, in: 2) ? .seconds(chances(1, in: 20) ? 200_000 : number(0...3600)) : nil
    return APIResponse(status: status, retryAfter: retryAfter)
  }

  private static let page = APIRequest.Header(name: "Content-Type", value: "text/html")

  private static let anything = [
    200, 200, 200, 201, 204, 302, 307, 400, 401, 403, 407, 408, 409, 409, 409, 413, 422, 423, 425, 429, 429, 500, 501,
    502, 503, 504, 505, 511,
  ]

  /// An idempotent server: what has been done under a key is not done again.
  private func perform(_ trackedRequest: TrackedRequest, _ request: APIRequest) {
    guard let key = request.idempotencyKey else { return violated("a request has no idempotency key") }
    guard trackedRequest.keysDone.insert(key).inserted else { return }
    trackedRequest.effects += 1
    let most = Swift.max(trackedRequest.ids.count, 1)
    if trackedRequest.effects > most, !trackedRequest.isTaken {
      violated("\(trackedRequest.number) has been done twice: under two keys")
    }
  }

  private func answer(_ id: Int, _ outcome: Result<APIResponse, ExchangeFailure>) {
    guard let flight = flights.removeValue(forKey: id) else { return }
    var outcome = outcome
    if case .success(var answer) = outcome, flight.trackedRequest == nil || chances(3, in: 4) {
      answer.skew = Timestamp.sample + flight.dateSentAt - now
      outcome = .success(answer)
    }
    receive(id, flight, outcome)
    flight.waiting?.resume(returning: outcome)
  }

  /// Nobody waits for the answer any more.
  func giveUp(_ id: Int) {
    guard let flight = flights.removeValue(forKey: id) else { return }
    flight.trackedRequest?.isGivenUp(id, sentAt: flight.sentAt)
    flight.waiting?.resume(returning: .failure(.unanswered(message: "given up")))
  }

  /// What a daemon learns from an answer.
  private func receive(_ id: Int, _ flight: APIFlight, _ outcome: Result<APIResponse, ExchangeFailure>) {
    guard let trackedRequest = flight.trackedRequest, let account = flight.account else { return }
    trackedRequest.flights.remove(id)
    switch outcome {
    case .failure(.notSent): tally[.notSent] += 1
    case .failure(.unanswered):
      tally[.unanswered] += 1
      trackedRequest.received(nil, nil, sentAt: flight.sentAt, at: elapsed, settings)
    case .success(let answer):
      note(
        "\(account.name): hears \(answer.status) to \(trackedRequest.number), Retry-After \(String(describing: answer.retryAfter))"
      )
      tally[.answered(answer.status)] += 1
      let isPage = answer.headers.contains(Self.page)
      trackedRequest.received(
        answer.status, answer.retryAfter, isPage: isPage, sentAt: flight.sentAt, at: elapsed, settings)
      guard let token = flight.token, let fact = account.tokens[token], !isPage else { return }
      if (200...299).contains(answer.status) { account.tokens[token]?.isAccepted = true }
      guard answer.status == 401 else { return }
      checkRepeats(account, trackedRequest, token)
      if elapsed - fact.heldSince <= .seconds(40), !fact.isAccepted { account.grounds.insert(.rejectedByServer) }
    }
  }
}

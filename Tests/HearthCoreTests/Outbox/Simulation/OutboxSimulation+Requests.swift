import TestSupport

@testable import HearthCore

/// The APIs, and the network on the way to them.
extension OutboxSimulation {
  private static let statuses = [
    200, 200, 200, 201, 302, 307, 400, 403, 404, 408, 409, 409, 413, 422, 423, 425, 429, 500, 501, 502, 503, 504, 505,
    401,
  ]

  static let overridable = [302, 400, 404, 409, 501, 502, 503]

  /// A request leaves.
  func send(_ delivery: Delivery, _ epoch: Int64, _ bearer: Bearer, from id: SenderID) {
    guard let item = items[delivery.number] else { return violated("item \(delivery.number) is unknown") }
    checkSending(delivery, epoch, bearer, item)
    checkReach(delivery, item, begunAt: daemon?.begunAt[id] ?? 0)
    tally[.request] += 1
    let origin = delivery.request.url.origin
    let (answer, wait) = answer(to: item, at: origin, bearer, of: delivery.item.account)
    note("\(delivery.item.account): sends item \(item.number) of claim \(epoch) to \(origin.host): \(answer), \(wait)")
    var result: Result<APIResponse, ExchangeFailure>
    switch answer {
    case .notSent: result = .failure(.notSent(message: "no connection"))
    case .unanswered: result = .failure(.unanswered(message: "timeout"))
    case .status(let status):
      var response = APIResponse(status: status)
      if [403, 409, 413, 429, 503].contains(status), chances(1, in: 2) {
        response.retryAfter = .seconds(number(1...300))
      }
      result = .success(response)
    case .page:
      let type = APIRequest.Header(name: "Content-Type", value: "text/html")
      result = .success(APIResponse(status: 200, headers: [type]))
    case .challenged(let status):
      let error = status == 401 ? "insufficient_user_authentication" : "insufficient_scope"
      let demand = APIRequest.Header(name: "WWW-Authenticate", value: "Bearer error=\(error)")
      result = .success(APIResponse(status: status, headers: [demand]))
    }
    daemon?.flights[id] = SimulatedFlight(
      item: item, account: delivery.item.account, origin: origin, token: bearer.token.fingerprint,
      isUnordered: delivery.item.lane == nil, result: result, answer: answer)
    (item.flight, item.answer, item.readySince) = (id, nil, nil)
    item.sentAt = elapsed
    item.token = bearer.token.fingerprint
    if item.user == nil { item.user = sessions[delivery.item.account]?.reportedUser }
    at(elapsed + wait, .response(id))
  }

  private func answer(
    to item: TrackedItem, at origin: Origin, _ bearer: Bearer, of name: AccountName
  ) -> (TrackedItem.Answer, Int) {
    let quick = isQuick ? number(0...4) : chances(1, in: 20) ? number(200...5000) : number(2...120)
    let mood = origins[origin]?.mood ?? .down
    switch mood {
    case .down: return (.notSent, number(0...20))
    case .hung: return (.unanswered, 30_000)
    case .portal: return (.status(one(of: [407, 511])), quick)
    case .lossy where chances(2, in: 3):
      return one(of: [(.notSent, 5), (.unanswered, quick), (.unanswered, 30_000)])
    case .mixed where chances(1, in: 2): return (.page, quick)
    case .fine, .flaky, .lossy, .refusing, .limited, .mixed: break
    }
    if item.isBarred, !isHealed { return (.status(511), quick) }
    let isRefused = mood == .refusing || item.isUnwelcome || sessions[name]?.isRevoked == true
    // A token that is no longer the current one may still be good.
    if isRefused || bearer.token.fingerprint != sessions[name]?.fingerprint && chances(1, in: 3) {
      return (.status(401), quick)
    }
    let overridden = Self.overridable.filter { daemon?.overrides[name]?[$0] != nil }
    switch mood {
    case .fine where !isHealed && !overridden.isEmpty && chances(1, in: 3):
      return (.status(one(of: overridden)), quick)
    case .flaky where chances(1, in: 10): return (.challenged(one(of: [401, 403])), quick)
    case .flaky: return (.status(one(of: Self.statuses)), quick)
    case .limited: return (.status(429), quick)
    case .fine, .lossy, .hung, .down, .refusing, .portal, .mixed: return (.status(chances(1, in: 2) ? 200 : 204), quick)
    }
  }

  func answerRequest(_ id: SenderID) {
    guard let flight = daemon?.flights.removeValue(forKey: id) else { return }
    let (item, name) = (flight.item, flight.account)
    note("item \(item.number) is answered: \(flight.answer)")
    (item.flight, item.answer, item.override, item.isToldToWait) = (nil, flight.answer, nil, false)
    item.isTokenUnreported = sessions[name]!.reportedToken != flight.token
    if case .status(let status) = flight.answer {
      item.override = daemon!.overrides[name]?[status]
      if item.override != nil { tally[.override] += 1 }
    }
    if case .success(let response) = flight.result, let wait = response.retryAfter {
      item.floor = elapsed + Int(wait.wholeMilliseconds)
      item.isToldToWait = true
    }
    var result = flight.result
    switch flight.answer {
    case .notSent: isOut(name, flight.origin)
    case .unanswered:
      daemon!.out[name]?[flight.origin] = nil
      item.unknownSince = item.unknownSince ?? item.sentAt
    case .challenged: daemon!.out[name]?[flight.origin] = nil
    case .status(let status):
      if status == 502 || status == 504 { item.unknownSince = item.unknownSince ?? item.sentAt }
      if status == 407 || status == 511 {
        let before = model.items[item.number]?.progress.offlineAnswers ?? 0
        if before == 0 || daemon!.out[name]?[flight.origin] != nil {
          isOut(name, flight.origin)
        } else {
          // It concerns only this item, which waits longer each time.
          let step = settings.retryInitial * (1 << min(before, 20))
          item.floor = max(item.floor, elapsed + Int((min(step, settings.retryMax) * 0.5).wholeMilliseconds))
        }
      } else {
        daemon!.out[name]?[flight.origin] = nil
      }
      if (200...299).contains(status) { daemon!.accepted.insert(flight.token) }
      if status == 401 { stalls(name) }
    case .page:
      daemon!.out[name]?[flight.origin] = nil
      item.unknownSince = item.unknownSince ?? item.sentAt
    }
    if case .success(let response) = result {
      let (told, asked) = (daemon!.told, daemon!.asked)
      let isOffline = response.status == 407 || response.status == 511
      result = .success(self.told(response, at: flight.origin, of: name, isOffline: isOffline))
      if flight.isTimeDoubtful { (daemon!.told, daemon!.asked) = (told, asked) }
    }
    daemon!.machine.responded(result, for: id, isCancelled: false, at: now)
    follow()
    step(id)
  }

  private func isOut(_ name: AccountName, _ origin: Origin) {
    if daemon!.out[name]?[origin] == nil { daemon!.out[name, default: [:]][origin] = tick() }
  }

  /// The response with the server's time. Records what the machine may conclude from it.
  private func told(
    _ response: APIResponse, at origin: Origin, of name: AccountName, isOffline: Bool
  ) -> APIResponse {
    var response = response
    let skew = number(-500...500) - offset + origins[origin]!.clockError
    if origins[origin]!.tellsTime { response.skew = .milliseconds(skew) }
    guard configured[name] != nil else { return response }
    // A machine that can connect has a clock that is wrong by less than about a year, so a larger difference is the
    // server's.
    if origins[origin]!.tellsTime, abs(skew) <= 400 * 86_400_000 {
      daemon!.told[name, default: [:]][origin] = abs(skew) <= 60_000 ? 0 : skew
    } else if isOffline, response.skew == nil {
      return response
    }
    daemon!.asked.insert(name)
    return response
  }

  func answerTime(_ name: AccountName, _ origin: Origin) {
    guard daemon != nil else { return }
    var result: Result<APIResponse, ExchangeFailure>
    switch origins[origin]!.mood {
    case .down: result = .failure(.notSent(message: "no connection"))
    case .hung, .lossy: result = .failure(.unanswered(message: "timeout"))
    case .fine, .flaky, .refusing, .portal, .limited, .mixed:
      result = .failure(.unanswered(message: "reset"))
      if !origins[origin]!.refusesHEAD {
        result = .success(told(APIResponse(status: 200), at: origin, of: name, isOffline: false))
      }
    }
    if case .failure(.unanswered) = result, configured[name] != nil { daemon!.asked.insert(name) }
    daemon!.machine.timeAnswered(result, name, origin)
    follow()
  }

  // MARK: - Tokens

  /// The machine may wait now because it has no good token.
  private func stalls(_ name: AccountName) { daemon?.stalledUntil[name] = elapsed + 305_000 }

  func answerBearer(_ id: SenderID, _ rejection: APIRejection?) {
    guard let name = daemon?.asking.removeValue(forKey: id) else { return }
    let result = bearer(of: name, rejection)
    note("\(name): sender \(id) \(rejection == nil ? "gets" : "replaces") the bearer: \(describe(result))")
    switch result {
    case .failure: stalls(name)
    case .success(let bearer):
      if bearer.subject != nil, bearer.subject != daemon!.machine.knownSubject(of: name) { stalls(name) }
    }
    daemon!.machine.received(result, for: id, at: now)
    follow()
    step(id)
  }

  private func describe(_ result: Result<Bearer, Failure>) -> String {
    switch result {
    case .success(let bearer): bearer.token.fingerprint.description
    case .failure(let failure): "\(failure)"
    }
  }

  private func bearer(of name: AccountName, _ rejection: APIRejection?) -> Result<Bearer, Failure> {
    guard let session = sessions[name], session.state == .signedIn else { return .failure(.noSession) }
    if let rejection, rejection.fingerprint == session.fingerprint {
      if let replacedAt = session.replacedAt, elapsed - replacedAt < 40_000, !rejection.isAcceptedElsewhere {
        change(name) { $0.state = .reauthRequired }
        return .failure(.noSession)
      }
      return refresh(name, replaces: true)
    }
    return session.isExpired ? refresh(name, replaces: false) : .success(session.bearer)
  }

  private func refresh(_ name: AccountName, replaces: Bool) -> Result<Bearer, Failure> {
    let mood = sessions[name]!.mood
    if mood == .down || mood == .flaky && chances(1, in: 2) {
      let retryAfter: Duration? = chances(1, in: 4) ? .seconds(number(1...600)) : nil
      return .failure(.unavailable(message: "503", retryAfter: retryAfter))
    }
    newToken(name)
    sessions[name]!.replacedAt = replaces ? elapsed : nil
    return .success(sessions[name]!.bearer)
  }

  func newToken(_ name: AccountName) {
    lastToken += 1
    change(name) {
      $0.token = lastToken
      ($0.isExpired, $0.isRevoked, $0.replacedAt) = (false, false, nil)
    }
  }
}

internal import HearthCore

/// The workers: each sends one request at a time and hears what its answer means.
extension OutboxService {
  /// Exchanges for one delivery: the first, one with a token that others brought meanwhile, one after a refresh, and
  /// some for tokens that change under way.
  private static let maxExchanges = 5
  private static let shortestStall = Duration.seconds(1)
  private static let longestStall = Duration.seconds(300)
  /// Of an answer that is no 2xx, in bytes: more than is shown of it, so that a token at the end is found whole.
  private static let keptOfRefusal = 16_384

  /// Sends its run, then what else is taken, until there is nothing.
  func work(_ worker: Int, _ name: AccountName, _ kind: OutboxKinds) async {
    repeat {
      while let delivery = next(worker, name) {
        let start = clock.now()
        guard let verdict = await attempt(delivery) else {
          // Given up with the request on its way: it stays in flight on disk and is sent again after the next start.
          giveBackTail(worker, name)
          break
        }
        finish(delivery, verdict, after: clock.now() - start)
        if !verdict.leavesLane {
          giveBackTail(worker, name)
          break
        }
      }
    } while takesAnother(worker, name, kind)
    accounts[name]?.tails[worker] = nil
    accounts[name]?.ended(kind)
    workers -= 1
    decideContestedTokens(of: name)
    bell.ring()
  }

  private func next(_ worker: Int, _ name: AccountName) -> Delivery? {
    guard let tail = accounts[name]?.tails[worker], let delivery = tail.deliveries.first else { return nil }
    accounts[name]?.tails[worker]?.deliveries.removeFirst()
    accounts[name]?.unsent[delivery.item.id] = nil
    return delivery
  }

  private func takesAnother(_ worker: Int, _ name: AccountName, _ kind: OutboxKinds) -> Bool {
    guard stopsAt == nil, let account = accounts[name], account.isSendable, account.working(on: kind) <= atOnce(kind),
      let run = accounts[name]?.nextRun(of: kind)
    else { return false }
    accounts[name]?.tails[worker] = run
    return true
  }

  private func giveBackTail(_ worker: Int, _ name: AccountName) {
    let rest = accounts[name]?.tails[worker]?.deliveries ?? []
    accounts[name]?.tails[worker] = LaneBatch([])
    for delivery in rest {
      accounts[name]?.unsent[delivery.item.id] = nil
      finished.append(FinishedDelivery(number: delivery.number, outcome: .released))
    }
  }

  private func finish(_ delivery: Delivery, _ verdict: DeliveryOutcome, after duration: Duration) {
    finished.append(FinishedDelivery(number: delivery.number, outcome: verdict))
    if case .released = verdict { accounts[delivery.item.account]?.reach.probeGivenUp(delivery.request.url.origin) }
    accounts[delivery.item.account]?.pace.finished(at: clock.now(), after: duration)
    accounts[delivery.item.account]?.mayHaveMore = .all
    bell.ring()
  }

  /// Whether the delivery may go out now, under this subject. Since it was taken a machine may have slept for long: one
  /// of unknown fate that may not be sent any more goes back, and is held when it is taken again.
  private func maySend(_ delivery: Delivery) -> Bool {
    guard let account = accounts[delivery.item.account] else { return false }
    return stopsAt == nil && account.isSendable && account.knownSubject == delivery.item.subject
      && policy.mayBeSent(
        method: delivery.request.method, unknownSince: delivery.unknownSince, at: clock.now())
  }

  /// Nil where the request was sent and is given up.
  private func attempt(_ delivery: Delivery) async -> DeliveryOutcome? {
    let name = delivery.item.account
    let origin = delivery.request.url.origin
    guard maySend(delivery) else { return .released }
    guard accounts[name]?.origins.contains(origin) == true else {
      return .dead(.rejected, status: nil, error: DeliveryOutcome.foreignOrigin(origin))
    }
    do {
      var bearer = try await bearers.bearer(for: name)
      var wasRefused = false
      for _ in 0..<Self.maxExchanges {
        guard maySend(delivery) else { return .released }
        guard isTheirs(bearer, delivery) else {
          stall(name, retryAfter: nil)
          return .released
        }
        switch await exchange(delivery, bearer) {
        case .verdict(let verdict): return verdict
        case .givenUp: return nil
        case .unauthorized(let answer):
          let fingerprint = bearer.token.fingerprint
          let isSecond = wasRefused && accounts[name]?.trust.wasBrought(fingerprint) == true
          wasRefused = true
          bearer = try await bearers.bearer(for: name)
          guard bearer.token.fingerprint == fingerprint else { continue }
          if accounts[name]?.trust.wasBrought(fingerprint) == true {
            switch await decision(on: fingerprint, of: delivery) {
            case .itemAlone where isSecond: return policy.rejected(answer)
            case .stopped: return .released
            case .itemAlone, .session: break
            }
          }
          bearer = try await renewed(fingerprint, refusedBy: origin, name)
        }
      }
      stall(name, retryAfter: nil)
    } catch {
      switch error {
      // The session says when it is there again; should that have come already, a look a little later helps.
      case .noSession: stall(name, retryAfter: nil)
      case .unavailable(_, let retryAfter):
        stall(name, retryAfter: retryAfter)
        accounts[name]?.lacksToken = true
        tellPause(of: name)
      }
    }
    return .released
  }

  /// Has a refused token replaced: by one refresh, however many ask.
  private func renewed(
    _ refused: Fingerprint, refusedBy origin: Origin, _ name: AccountName
  ) async throws(BearerFailure) -> Bearer {
    let isAccepted = accounts[name]?.trust.isAccepted(refused) ?? false
    let bearer = try await bearers.refused(
      APIRejection(refused, origin: origin, isAcceptedElsewhere: isAccepted), of: name)
    accounts[name]?.trust.brought(bearer.token.fingerprint)
    return bearer
  }

  /// A provider that tells no subject cannot contradict the one the session goes by.
  private func isTheirs(_ bearer: Bearer, _ delivery: Delivery) -> Bool {
    bearer.subject == nil || bearer.subject == delivery.item.subject
  }

  private enum Exchange {
    case verdict(DeliveryOutcome)
    case unauthorized(APIResponse)
    case givenUp
  }

  private func exchange(_ delivery: Delivery, _ bearer: Bearer) async -> Exchange {
    let name = delivery.item.account
    let origin = delivery.request.url.origin
    let sentAt = clock.now()
    var answer: APIResponse
    do {
      answer = try await api.exchange(
        delivery.request, of: name, bearer: bearer.token, timeout: Self.requestTimeout)
    } catch {
      switch error {
      case .notSent(let message):
        return stopsAt == nil ? .verdict(unreachable(delivery, nil, message)) : .verdict(.released)
      case .unanswered(let message):
        if stopsAt != nil || Task.isCancelled { return .givenUp }
        reached(origin, of: name)
        return .verdict(
          policy.outcome(unanswered: message, delivery, sentAt: sentAt, at: clock.now(), random: random()))
      }
    }
    if !(200...299).contains(answer.status) {
      // It is kept and shown: without the tokens, which careless servers repeat.
      let isCut = answer.isTruncated || answer.body.count > Self.keptOfRefusal
      answer.body = Redactor(bearer.secrets)
        .redacted(Array(answer.body.prefix(Self.keptOfRefusal)), isCut: isCut)
    }
    if let skew = answer.skew { timeTold(skew: skew) }
    if DeliveryPolicy.meansOffline(answer) {
      return .verdict(unreachable(delivery, answer.status, "Something before the API asks for a sign-in."))
    }
    reached(origin, of: name)
    if answer.status == 401 { return .unauthorized(answer) }
    if (200...299).contains(answer.status) {
      accounts[name]?.trust.accepted(bearer.token.fingerprint)
      let lackedToken = accounts[name]?.lacksToken == true
      accounts[name]?.hasGoodToken()
      if lackedToken { tellPause(of: name) }
      decideContestedTokens(of: name)
    }
    return .verdict(policy.outcome(on: answer, to: delivery, sentAt: sentAt, at: clock.now(), random: random()))
  }

  private func unreachable(_ delivery: Delivery, _ status: Int?, _ message: String) -> DeliveryOutcome {
    let now = clock.now()
    let origin = delivery.request.url.origin
    let probeAt = accounts[delivery.item.account]?.reach.failed(origin, at: now, random: random()) ?? now
    tellPause(of: delivery.item.account)
    return .unreachable(probeAt: probeAt, status: status, error: message)
  }

  private func reached(_ origin: Origin, of name: AccountName) {
    guard accounts[name]?.reach.unreachable.contains(origin) == true else { return }
    accounts[name]?.reach.answered(origin)
    accounts[name]?.mayHaveMore = .all
    tellPause(of: name)
  }

  /// No token can be had: the account's items wait, uncharged.
  private func stall(_ name: AccountName, retryAfter: Duration?) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let retry = RetryPolicy(initial: Self.shortestStall * 2, max: Self.longestStall)
    let wait = retry.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.longestStall) },
      random: random())
    accounts[name]?.bearerFailures += 1
    accounts[name]?.stalledUntil = clock.now() + wait
    finished += accounts[name]?.withdrawAll() ?? []
  }

  // MARK: - One item, or the session?

  /// A token that a refresh just brought is refused. Whether that is about this item or about the session, the others
  /// that are under way with it will tell; where there are none, it is the session.
  private func decision(on fingerprint: Fingerprint, of delivery: Delivery) async -> OutboxAccount.UnauthorizedDecision
  {
    let name = delivery.item.account
    if stopsAt != nil || accounts[name] == nil { return .stopped }
    if accounts[name]?.trust.isAccepted(fingerprint) == true { return .itemAlone }
    return await withCheckedContinuation { continuation in
      accounts[name]?.contestedTokens.append(
        OutboxAccount.ContestedToken(fingerprint: fingerprint, kind: delivery.kind, verdict: continuation))
      decideContestedTokens(of: name)
      bell.ring()
    }
  }

  func decideContestedTokens(of name: AccountName) {
    guard let account = accounts[name], !account.contestedTokens.isEmpty else { return }
    let isAlone =
      !account.isWorking && account.buffer.isEmpty && !settling.contains(name) && account.mayHaveMore.isEmpty
    let isCrowded = account.contestedTokens.count >= max(settings.concurrency, 2)
    var left: [OutboxAccount.ContestedToken] = []
    for suspect in account.contestedTokens {
      if account.trust.isAccepted(suspect.fingerprint) {
        suspect.verdict.resume(returning: .itemAlone)
      } else if isAlone || isCrowded || !account.isSendable {
        suspect.verdict.resume(returning: account.isSendable ? .session : .stopped)
      } else {
        left.append(suspect)
      }
    }
    accounts[name]?.contestedTokens = left
  }

  // MARK: - The time

  /// Asks an API for the time (RFC 9110, section 6.6.1) with a request that changes nothing.
  func askTime(of name: AccountName, _ origin: Origin) async {
    guard let url = try? HTTPURL(origin.description + "/") else { return }
    let request = APIRequest(method: "HEAD", url: url, headers: [], body: [], idempotencyKey: nil)
    if let answer = try? await api.exchange(request, of: name, bearer: nil, timeout: Self.requestTimeout) {
      // One that has no clock to tell (RFC 9110, section 6.6.1) cannot contradict this one.
      timeTold(skew: answer.skew ?? .zero)
    }
    bell.ring()
  }
}

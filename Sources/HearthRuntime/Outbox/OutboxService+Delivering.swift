internal import HearthCore

/// The workers: each sends one request at a time and finds out what its response means.
extension OutboxService {
  /// The most requests for one delivery: the first, one with a token that another delivery brought, one after a refresh,
  /// and some for tokens that change meanwhile.
  private static let maxExchanges = 5
  private static let shortestStall = Duration.seconds(1)
  private static let longestStall = Duration.seconds(300)
  /// How much is kept of the body of a response that is no 2xx, in bytes: more than is shown, so that a token at the end
  /// of what is shown is found whole.
  private static let keptOfRejection = 16_384

  /// Sends one batch after the other until the queue is empty.
  func work(_ worker: Int, _ name: AccountName, _ kind: OutboxKinds) async {
    repeat {
      while let delivery = accounts[name]?.queue.next(of: worker) {
        let start = clock.now()
        guard let outcome = await attempt(delivery) else {
          // Stopped while the request was under way: it stays in flight on disk and is sent again after the next start.
          releaseRest(of: worker, name)
          break
        }
        finish(delivery, outcome, after: clock.now() - start)
        if !outcome.leavesLane {
          releaseRest(of: worker, name)
          break
        }
      }
    } while takesNextBatch(worker, name, kind)
    accounts[name]?.queue.end(worker)
    workers -= 1
    resolveUnauthorized(of: name)
    wakeUp.send()
  }

  private func takesNextBatch(_ worker: Int, _ name: AccountName, _ kind: OutboxKinds) -> Bool {
    guard stopsAt == nil, let account = accounts[name], account.isSendable, account.sending(kind) <= atOnce(kind)
    else { return false }
    return accounts[name]?.queue.give(to: worker, kind) == true
  }

  private func releaseRest(of worker: Int, _ name: AccountName) {
    write((accounts[name]?.queue.withdrawRest(of: worker) ?? []).map(\.released))
  }

  private func finish(_ delivery: Delivery, _ outcome: DeliveryOutcome, after duration: Duration) {
    write([FinishedDelivery(number: delivery.number, outcome: outcome)])
    if case .released = outcome { accounts[delivery.item.account]?.breaker.probeGivenUp(delivery.request.url.origin) }
    accounts[delivery.item.account]?.readAhead.finished(at: clock.now(), after: duration)
    accounts[delivery.item.account]?.mayHaveMore = .all
    wakeUp.send()
  }

  /// Whether the delivery may be sent now, under its subject. The machine may have slept since it was claimed: one of
  /// unknown fate that may not be sent any more is released, and is held for review at its next claim.
  private func maySend(_ delivery: Delivery) -> Bool {
    guard let account = accounts[delivery.item.account] else { return false }
    return stopsAt == nil && account.isSendable && account.knownSubject == delivery.item.subject
      && policy.mayBeSent(
        method: delivery.request.method, unknownSince: delivery.unknownSince, at: clock.now())
  }

  /// Nil where sending stopped while the request was under way.
  private func attempt(_ delivery: Delivery) async -> DeliveryOutcome? {
    let name = delivery.item.account
    let origin = delivery.request.url.origin
    guard maySend(delivery) else { return .released }
    guard accounts[name]?.origins.contains(origin) == true else {
      return .dead(.rejected, status: nil, error: DeliveryOutcome.foreignOrigin(origin))
    }
    do {
      var bearer = try await bearers.bearer(for: name)
      var wasRejected = false
      for _ in 0..<Self.maxExchanges {
        guard maySend(delivery) else { return .released }
        guard isTheirs(bearer, delivery) else {
          stall(name, retryAfter: nil)
          return .released
        }
        switch await exchange(delivery, bearer) {
        case .outcome(let outcome): return outcome
        case .stopped: return nil
        case .unauthorized(let response):
          let fingerprint = bearer.token.fingerprint
          let isSecond = wasRejected && accounts[name]?.acceptance.wasBrought(fingerprint) == true
          wasRejected = true
          bearer = try await bearers.bearer(for: name)
          guard bearer.token.fingerprint == fingerprint else { continue }
          if accounts[name]?.acceptance.wasBrought(fingerprint) == true {
            switch await cause(of401To: fingerprint, delivery) {
            case .item where isSecond: return policy.rejected(response)
            case .unknown: return .released
            case .item, .session: break
            }
          }
          bearer = try await renewed(fingerprint, rejectedBy: origin, name)
        }
      }
      stall(name, retryAfter: nil)
    } catch {
      switch error {
      // The session reports when it is there again. It may have done so already, so it is asked again after a wait.
      case .noSession: stall(name, retryAfter: nil)
      case .unavailable(_, let retryAfter):
        stall(name, retryAfter: retryAfter)
        accounts[name]?.lacksToken = true
        publishPause(of: name)
      }
    }
    return .released
  }

  /// Asks for a token in place of a rejected one: one refresh serves all deliveries that ask.
  private func renewed(
    _ rejected: Fingerprint, rejectedBy origin: Origin, _ name: AccountName
  ) async throws(BearerFailure) -> Bearer {
    let isAccepted = accounts[name]?.acceptance.isAccepted(rejected) ?? false
    let bearer = try await bearers.refused(
      APIRejection(rejected, origin: origin, isAcceptedElsewhere: isAccepted), of: name)
    accounts[name]?.acceptance.brought(bearer.token.fingerprint)
    return bearer
  }

  /// Whether the token is of the user of the item. A provider that names no subject cannot contradict the session.
  private func isTheirs(_ bearer: Bearer, _ delivery: Delivery) -> Bool {
    bearer.subject == nil || bearer.subject == delivery.item.subject
  }

  private enum Exchange {
    case outcome(DeliveryOutcome)
    case unauthorized(APIResponse)
    /// Sending stopped while the request was under way.
    case stopped
  }

  private func exchange(_ delivery: Delivery, _ bearer: Bearer) async -> Exchange {
    let name = delivery.item.account
    let origin = delivery.request.url.origin
    let sentAt = clock.now()
    var response: APIResponse
    do {
      response = try await api.exchange(
        delivery.request, of: name, bearer: bearer.token, timeout: Self.requestTimeout)
    } catch {
      switch error {
      case .notSent(let message):
        return stopsAt == nil ? .outcome(unreachable(delivery, nil, message)) : .outcome(.released)
      case .unanswered(let message):
        if stopsAt != nil || Task.isCancelled { return .stopped }
        reached(origin, of: name)
        return .outcome(
          policy.outcome(unanswered: message, delivery, sentAt: sentAt, at: clock.now(), random: random()))
      }
    }
    if !(200...299).contains(response.status) {
      // The body is kept and shown, without the tokens that careless servers repeat.
      let isCut = response.isTruncated || response.body.count > Self.keptOfRejection
      response.body = Redactor(bearer.secrets)
        .redacted(Array(response.body.prefix(Self.keptOfRejection)), isCut: isCut)
    }
    if let skew = response.skew { serverTimeReported(skew: skew) }
    if DeliveryPolicy.meansOffline(response) {
      return .outcome(
        unreachable(
          delivery, response.status, "A proxy or a captive portal asks for a sign-in before the API can be reached."))
    }
    reached(origin, of: name)
    if response.status == 401 { return .unauthorized(response) }
    if (200...299).contains(response.status) {
      accounts[name]?.acceptance.accepted(bearer.token.fingerprint)
      let lackedToken = accounts[name]?.lacksToken == true
      accounts[name]?.hasGoodToken()
      if lackedToken { publishPause(of: name) }
      resolveUnauthorized(of: name)
    }
    return .outcome(policy.outcome(on: response, to: delivery, sentAt: sentAt, at: clock.now(), random: random()))
  }

  private func unreachable(_ delivery: Delivery, _ status: Int?, _ message: String) -> DeliveryOutcome {
    let now = clock.now()
    let origin = delivery.request.url.origin
    let probeAt = accounts[delivery.item.account]?.breaker.failed(origin, at: now, random: random()) ?? now
    publishPause(of: delivery.item.account)
    return .unreachable(probeAt: probeAt, status: status, error: message)
  }

  private func reached(_ origin: Origin, of name: AccountName) {
    guard accounts[name]?.breaker.unreachable.contains(origin) == true else { return }
    accounts[name]?.breaker.answered(origin)
    accounts[name]?.mayHaveMore = .all
    publishPause(of: name)
  }

  /// No token can be had: the account's items wait, and no attempt is charged.
  private func stall(_ name: AccountName, retryAfter: Duration?) {
    guard let account = accounts[name], account.stalledUntil == nil else { return }
    let retry = RetryPolicy(initial: Self.shortestStall * 2, max: Self.longestStall)
    let wait = retry.wait(
      failures: account.bearerFailures + 1, retryAfter: retryAfter.map { min($0, Self.longestStall) },
      random: random())
    accounts[name]?.bearerFailures += 1
    accounts[name]?.stalledUntil = clock.now() + wait
    write(accounts[name]?.withdrawAll() ?? [])
  }

  // MARK: - The cause of a 401

  /// The token that a refresh just brought is answered 401. Whether that is about this item or about the session shows in
  /// the responses to other items that are under way with the token; where there are none, it is about the session.
  private func cause(of401To fingerprint: Fingerprint, _ delivery: Delivery) async -> OutboxAccount.UnauthorizedCause {
    let name = delivery.item.account
    if stopsAt != nil || accounts[name] == nil { return .unknown }
    if accounts[name]?.acceptance.isAccepted(fingerprint) == true { return .item }
    return await withCheckedContinuation { continuation in
      accounts[name]?.unauthorized.append(
        OutboxAccount.UnauthorizedDelivery(fingerprint: fingerprint, kind: delivery.kind, cause: continuation))
      resolveUnauthorized(of: name)
      wakeUp.send()
    }
  }

  /// Resumes the deliveries that wait for the cause of their 401, as far as it can be told by now.
  func resolveUnauthorized(of name: AccountName) {
    guard let account = accounts[name], !account.unauthorized.isEmpty else { return }
    let isAlone =
      !account.isSending && account.queue.isEmpty && !claiming.contains(name) && account.mayHaveMore.isEmpty
    let isCrowded = account.unauthorized.count >= max(settings.concurrency, 2)
    var left: [OutboxAccount.UnauthorizedDelivery] = []
    for delivery in account.unauthorized {
      if account.acceptance.isAccepted(delivery.fingerprint) {
        delivery.cause.resume(returning: .item)
      } else if isAlone || isCrowded || !account.isSendable {
        delivery.cause.resume(returning: account.isSendable ? .session : .unknown)
      } else {
        left.append(delivery)
      }
    }
    accounts[name]?.unauthorized = left
  }

  // MARK: - The time

  /// Asks an API for the time (RFC 9110, section 6.6.1) with a request that changes nothing.
  func askTime(of name: AccountName, _ origin: Origin) async {
    guard let url = try? HTTPURL(origin.description + "/") else { return }
    let request = APIRequest(method: "HEAD", url: url, headers: [], body: [], idempotencyKey: nil)
    if let response = try? await api.exchange(request, of: name, bearer: nil, timeout: Self.requestTimeout) {
      // A server without a clock sends no time (RFC 9110, section 6.6.1), and cannot contradict this clock.
      serverTimeReported(skew: response.skew ?? .zero)
    }
    wakeUp.send()
  }
}

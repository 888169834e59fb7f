package import HearthControl
package import HearthCore

/// Carries out the requests of callers as their machines decide.
package actor RequestService {
  private let bearers: any BearerTokenProvider
  private let api: any APIEndpoint
  nonisolated let access: APIAccess
  private let store: any ResponseStore
  private let clock: any Clock
  nonisolated let places = RequestPlaces()
  /// How often something of the account was wiped. What was asked before a wipe is not kept after it.
  private var wipes: [AccountName: Int] = [:]
  /// Whose answers may be kept, as far as it is known.
  private var owners: [AccountName: Subject] = [:]
  /// The longest body of a request, in bytes.
  private var maxBody = OutboxSettings().maxBody

  package init(
    bearers: any BearerTokenProvider, api: any APIEndpoint, access: APIAccess, store: any ResponseStore,
    clock: any Clock
  ) {
    (self.bearers, self.api, self.access, self.store, self.clock) = (bearers, api, access, store, clock)
  }

  /// The configuration was read again. `maxBody` is that of a request, in bytes.
  package func accountsChanged(maxBody: Int) async {
    self.maxBody = maxBody
    for account in owners.keys where access[account] == nil {
      owners[account] = nil
      wipes[account, default: 0] += 1
    }
    await store.wipeAll(but: Set(access.all.keys))
  }

  /// The account's session has changed. What is kept of a user whose place another has taken is wiped; what is kept of one
  /// who signed out is gone when this returns.
  package func sessionChanged(_ account: AccountName, _ state: SessionState, _ subject: Subject?) async {
    let owner: Subject?
    switch state {
    case .unauthenticated: owner = nil
    case .hydrating, .locked, .authenticated, .reauthRequired:
      guard let subject, owners[account] != subject else { return }
      owner = subject
    }
    // Before the first user nothing of another was asked for. That somebody has signed out is told more than once, and the
    // first wipe may still be under way: the store does one after the other.
    if owner == nil || owners[account] != nil { wipes[account, default: 0] += 1 }
    owners[account] = owner
    await store.wipe(account, keeping: owner)
  }

  /// An answer, and whose token it was asked under, as far as that is known.
  package struct Answer: Sendable {
    package var response: APIResponse
    package var subject: Subject?
    /// The age of an earlier answer, which is given in place of an error.
    package var age: Duration?
  }

  /// Sends the request and returns the answer. The caller makes sure that it may still be given. `user` is signed in, and
  /// gets earlier answers if `cache` says so. `client` waits, and the request is given up if they leave.
  package func answer(
    to draft: RequestDraft, cache: RequestCache = .none, of user: Subject? = nil, for client: ConnectionID? = nil
  ) async throws(RequestFailure) -> Answer {
    let request = try checked(draft)
    return try await places.run(draft.account, for: client) { () async throws(RequestFailure) in
      guard cache == .staleIfError, let user, request.hasAnswerToKeep else {
        return try await self.exchange(request, of: draft.account, timeout: draft.timeout, for: client).answer
      }
      return try await self.answer(
        to: request, ResponseKey(account: draft.account, subject: user, request: request), timeout: draft.timeout,
        for: client)
    }
  }

  /// The request of a draft whose bodies go in pieces, and its place, which is to be given back.
  func begin(
    _ draft: RequestDraft, _ upload: APIRequest.Upload?, for client: ConnectionID
  ) throws(RequestFailure) -> (request: APIRequest, place: Int) {
    var request = try checked(draft)
    request.upload = upload
    return (request, try places.take(draft.account, for: client).number)
  }

  private func checked(_ draft: RequestDraft) throws(RequestFailure) -> APIRequest {
    guard access[draft.account] != nil else { throw .unknownAccount(draft.account) }
    do { return try draft.checked(maxBody: maxBody) } catch { throw .invalidRequest(error.description) }
  }

  /// Keeps what may be kept, and gives what was kept where the API gives nothing.
  private func answer(
    to request: APIRequest, _ key: ResponseKey, timeout: Duration, for client: ConnectionID?
  ) async throws(RequestFailure) -> Answer {
    let wipesBefore = wipes[key.account]
    let kept = await store.find(key)
    func staleAnswer() -> Answer? {
      guard let kept, kept.mayStandIn(at: clock.now()), wipes[key.account] == wipesBefore else { return nil }
      return Answer(response: kept.answer, subject: key.subject, age: kept.age(at: clock.now()))
    }
    let exchange: Exchange
    do throws(RequestFailure) {
      exchange = try await self.exchange(request, of: key.account, timeout: timeout, for: client, validating: kept)
    } catch {
      if error.takesEarlierAnswersBack { await store.remove(key) }
      guard error.isOutage, let staleAnswer = staleAnswer() else { throw error }
      return staleAnswer
    }
    var answer = exchange.answer
    guard answer.subject == key.subject else { return answer }
    if answer.response.isServerError, let staleAnswer = staleAnswer() { return staleAnswer }
    if answer.response.takesEarlierAnswersBack { await store.remove(key) }
    let isConfirmed = answer.response.status == 304 && exchange.isValidation
    guard answer.response.status == 200 || isConfirmed else { return answer }
    let (fresh, now) = (answer.response, clock.now())
    var next = StoredResponse(fresh, isRedirected: exchange.isRedirected, at: now)
    if let kept, isConfirmed {
      answer.response = kept.answer(confirmedBy: fresh)
      next = kept.confirmed(by: fresh, at: now)
    }
    guard wipes[key.account] == wipesBefore else { return answer }
    guard let next else {
      await store.remove(key)
      return answer
    }
    await store.keep(next, for: key, unlessRepeating: exchange.secrets)
    return answer
  }

  /// What came of a request, and how.
  private struct Exchange {
    var answer: Answer
    /// The last request asked whether a kept answer still holds.
    var isValidation = false
    var isRedirected = false
    /// The secrets of the token that it was sent with.
    var secrets: [Secret] = []
  }

  /// `kept` is an answer to the same request. The API is asked if it still holds.
  private func exchange(
    _ original: APIRequest, of account: AccountName, timeout: Duration, for client: ConnectionID?,
    validating kept: StoredResponse? = nil
  ) async throws(RequestFailure) -> Exchange {
    var (left, exchange) = (timeout, Exchange(answer: Answer(response: APIResponse(status: 0))))
    exchange.answer.response = try await converse(original, of: account) {
      (request, bearer) async throws(ExchangeFailure) in
      // While the token, or the answer before, was waited for.
      if places.hasLeft(client) { throw .notSent(message: "The client has left") }
      exchange.isRedirected = request.url != original.url
      let validation = exchange.isRedirected ? nil : kept?.validation(of: request)
      exchange.isValidation = validation != nil
      exchange.secrets = bearer.secrets
      let start = clock.now()
      defer { left = max(left - (clock.now() - start), .zero) }
      exchange.answer.subject = bearer.subject ?? exchange.answer.subject
      return try await api.exchange(validation ?? request, of: account, bearer: bearer.token, timeout: left)
    }
    return exchange
  }

  /// Asks the API as the machine decides, and returns the response that is to be given. `send` sends the request once.
  func converse(
    _ request: APIRequest, of account: AccountName,
    send: (APIRequest, Bearer) async throws(ExchangeFailure) -> APIResponse
  ) async throws(RequestFailure) -> APIResponse {
    var machine = RequestMachine(request)
    var step = machine.begin(access[account])
    while true {
      switch step {
      case .getBearer:
        let bearer = try await given(await bearers.bearer(for: account))
        step = machine.authorized(by: bearer, access[account])
      case .replaceBearer(let rejection):
        let bearer = try await given(await bearers.tokenRejected(rejection, of: account))
        step = machine.authorized(by: bearer, access[account])
      case .send(let request, let bearer):
        do throws(ExchangeFailure) {
          let response = try await send(request, bearer)
          step = machine.responded(response, access[account])
          if (200...299).contains(response.status), case .respond = step {
            bearers.tokenAccepted(bearer.token.fingerprint, by: request.url, of: account)
          }
        } catch {
          step = machine.unanswered(error)
        }
      case .respond(let response): return response
      case .fail(let failure): throw failure
      }
    }
  }

  private func given(_ bearer: @autoclosure () async throws(BearerFailure) -> Bearer) async throws(RequestFailure)
    -> Bearer
  {
    do throws(BearerFailure) { return try await bearer() } catch {
      switch error {
      case .noSession: throw .noSession
      case .unavailable(let message, let retryAfter):
        throw .refreshUnavailable(message: message, retryAfter: retryAfter)
      }
    }
  }
}

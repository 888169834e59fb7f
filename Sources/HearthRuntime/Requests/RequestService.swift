package import HearthControl
package import HearthCore

/// Sends requests for programs. Each request has a `RequestMachine`, which decides the next step.
package actor RequestService {
  private let bearers: any BearerTokenProvider
  private let api: any APIEndpoint
  nonisolated let access: APIAccess
  private let store: any ResponseStore
  private let clock: any Clock
  private let sent: @Sendable (AccountName, Int?) -> Void
  nonisolated let places = RequestPlaces()
  /// The number of times that each account's cached responses were wiped. A response to a request that was sent before
  /// a wipe must not be cached after the wipe.
  private var wipes: [AccountName: Int] = [:]
  /// The known users whose responses may be cached.
  private var owners: [AccountName: Subject] = [:]
  private var maxBody = OutboxSettings().maxBody

  /// Creates the service. `sent` is called after each request with the status of the answer, or with `nil` if the API
  /// did not answer.
  package init(
    bearers: any BearerTokenProvider, api: any APIEndpoint, access: APIAccess, store: any ResponseStore,
    clock: any Clock, sent: @escaping @Sendable (AccountName, Int?) -> Void = { _, _ in }
  ) {
    (self.bearers, self.api, self.access, self.store, self.clock) = (bearers, api, access, store, clock)
    self.sent = sent
  }

  /// Applies a new configuration. `maxBody` is the size limit for request bodies, in bytes.
  package func accountsChanged(maxBody: Int) async {
    self.maxBody = maxBody
    for account in owners.keys where access[account] == nil {
      owners[account] = nil
      wipes[account, default: 0] += 1
    }
    await store.wipeAll(but: Set(access.all.keys))
  }

  /// Handles a change of the account's session. Wipes the cached responses of a user who has been replaced by another
  /// user. After a sign-out, wipes all cached responses before it returns.
  package func sessionChanged(_ account: AccountName, _ state: SessionState, _ subject: Subject?) async {
    let owner: Subject?
    switch state {
    case .unauthenticated: owner = nil
    case .hydrating, .locked, .authenticated, .reauthRequired:
      guard let subject, owners[account] != subject else { return }
      owner = subject
    }
    // Do not count the wipe for the account's first known user, because no earlier user's request is in flight then. If
    // a sign-out is reported again, wipe again. The store runs wipes in order, so the second call also waits for the
    // first wipe.
    if owner == nil || owners[account] != nil { wipes[account, default: 0] += 1 }
    owners[account] = owner
    await store.wipe(account, keeping: owner)
  }

  package struct Answer: Sendable {
    package var response: APIResponse
    package var subject: Subject?
    /// The age of the cached response, or `nil` if the API answered this request.
    package var age: Duration?
  }

  /// Sends a request and returns the answer. The caller must then check that the session still allows returning the
  /// answer. `user` is the signed-in user, who may get a cached response if `cache` allows it. If `client` disconnects,
  /// the request is cancelled.
  package func answer(
    to draft: RequestDraft, cache: RequestCache = .none, of user: Subject? = nil, for client: ConnectionID? = nil
  ) async throws -> Answer {
    let request = try checked(draft)
    return try await places.run(draft.account, for: client) {
      guard cache == .staleIfError, let user, request.hasAnswerToKeep else {
        return try await self.exchange(request, of: draft.account, timeout: draft.timeout, for: client).answer
      }
      return try await self.answer(
        to: request, ResponseKey(account: draft.account, subject: user, request: request), timeout: draft.timeout,
        for: client)
    }
  }

  /// Returns the cached response to a request that cannot be sent, because the session of `user` has ended, or `nil` if
  /// there is none.
  package func cachedAnswer(to draft: RequestDraft, of user: Subject) async throws -> Answer? {
    let request = try checked(draft)
    var machine = RequestMachine(request, of: draft.account)
    guard request.hasAnswerToKeep, case .getBearer = machine.begin(access[draft.account]) else { return nil }
    let key = ResponseKey(account: draft.account, subject: user, request: request)
    guard let kept = await store.find(key), kept.mayAnswerStale(at: clock.now()) else { return nil }
    return Answer(response: kept.answer, subject: user, age: kept.age(at: clock.now()))
  }

  /// Returns the request for a draft with streamed bodies, and the number of the slot that the request occupies. The
  /// caller must free the slot.
  func begin(
    _ draft: RequestDraft, _ upload: APIRequest.Upload?, for client: ConnectionID
  ) throws -> (request: APIRequest, place: Int) {
    var request = try checked(draft)
    request.upload = upload
    return (request, try places.take(draft.account, for: client).number)
  }

  private func checked(_ draft: RequestDraft) throws -> APIRequest {
    guard access[draft.account] != nil else { throw Failure.unknownAccount(draft.account) }
    return try draft.checked(maxBody: maxBody)
  }

  /// Sends a request and caches the response if allowed. If the request fails, returns a cached response if possible.
  private func answer(
    to request: APIRequest, _ key: ResponseKey, timeout: Duration, for client: ConnectionID?
  ) async throws -> Answer {
    let wipesBefore = wipes[key.account]
    let kept = await store.find(key)
    func staleAnswer() -> Answer? {
      guard let kept, kept.mayAnswerStale(at: clock.now()), wipes[key.account] == wipesBefore else { return nil }
      return Answer(response: kept.answer, subject: key.subject, age: kept.age(at: clock.now()))
    }
    let exchange: Exchange
    do {
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

  private struct Exchange {
    var answer: Answer
    /// Whether the last request asked the API to revalidate the cached response.
    var isValidation = false
    var isRedirected = false
    /// The secrets in the bearer that was sent.
    var secrets: [Secret] = []
  }

  /// Sends a request. If `kept` is set, asks the API whether this cached response to the same request is still valid.
  private func exchange(
    _ original: APIRequest, of account: AccountName, timeout: Duration, for client: ConnectionID?,
    validating kept: StoredResponse? = nil
  ) async throws(Failure) -> Exchange {
    var (left, exchange) = (timeout, Exchange(answer: Answer(response: APIResponse(status: 0))))
    exchange.answer.response = try await converse(original, of: account) {
      (request, bearer) async throws(ExchangeFailure) in
      // Send nothing if the client has disconnected while the token or the previous answer was awaited.
      if places.hasLeft(client) { throw .notSent(message: "The client disconnected") }
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

  /// Carries out the machine's steps and returns the response for the caller. `send` sends a single request.
  func converse(
    _ request: APIRequest, of account: AccountName,
    send: (APIRequest, Bearer) async throws(ExchangeFailure) -> APIResponse
  ) async throws(Failure) -> APIResponse {
    var machine = RequestMachine(request, of: account)
    var step = machine.begin(access[account])
    while true {
      switch step {
      case .getBearer:
        let bearer = try await bearers.bearer(for: account)
        step = machine.authorized(by: bearer, access[account])
      case .replaceBearer(let rejection):
        let bearer = try await bearers.tokenRejected(rejection, of: account)
        step = machine.authorized(by: bearer, access[account])
      case .send(let request, let bearer):
        do {
          let response = try await send(request, bearer)
          sent(account, response.status)
          step = machine.responded(response, access[account])
          if (200...299).contains(response.status), case .respond = step {
            bearers.tokenAccepted(bearer.token.fingerprint, by: request.url, of: account)
          }
        } catch {
          sent(account, nil)
          step = machine.unanswered(error)
        }
      case .respond(let response): return response
      case .fail(let failure): throw failure
      }
    }
  }
}

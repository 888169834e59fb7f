package import HearthCore

/// Carries out the requests of callers as their machines decide.
package actor RequestService {
  /// How many may be under way at once: each may hold an answer of `RequestMachine.responseLimit` bytes.
  static let mostAtOnce = 64

  private let bearers: any BearerTokenProvider
  private let api: any APIEndpoint
  private let clock: any Clock
  private var apis: [AccountName: APISettings] = [:]
  /// In bytes, of a request.
  private var maxBody = OutboxSettings().maxBody
  private var acceptance: [AccountName: TokenAcceptance] = [:]
  private var underWay = 0

  package init(bearers: any BearerTokenProvider, api: any APIEndpoint, clock: any Clock) {
    self.bearers = bearers
    self.api = api
    self.clock = clock
  }

  /// The configuration was read again. `maxBody`: of a request, in bytes.
  package func accountsChanged(_ apis: [AccountName: APISettings], maxBody: Int) {
    self.apis = apis
    self.maxBody = maxBody
    acceptance = acceptance.filter { apis[$0.key] != nil }
  }

  /// Sends the request and returns the answer, with the user whose token it was asked under, as far as that is known. The
  /// caller makes sure that the answer may still be given.
  package func answer(
    to draft: RequestDraft
  ) async throws(RequestFailure) -> (response: APIResponse, subject: Subject?) {
    let account = draft.account
    guard apis[account] != nil else { throw .unknownAccount(account) }
    let request: APIRequest
    do { request = try draft.checked(maxBody: maxBody) } catch { throw .invalidRequest(error.description) }
    guard underWay < Self.mostAtOnce else { throw .tooMany(Self.mostAtOnce) }
    underWay += 1
    defer { underWay -= 1 }

    var machine = RequestMachine(request)
    var step = machine.begin(apis[account])
    var (left, subject) = (draft.timeout, nil as Subject?)
    while true {
      switch step {
      case .getBearer:
        let bearer = try await bearer { () async throws(BearerFailure) in try await bearers.bearer(for: account) }
        step = machine.authorized(by: bearer, apis[account])
      case .replaceBearer(let rejection):
        let bearer = try await bearer { () async throws(BearerFailure) in
          try await bearers.tokenRejected(rejection, of: account)
        }
        step = machine.authorized(by: bearer, apis[account])
      case .send(let request, let bearer):
        let start = clock.now()
        let result = await Result { () async throws(ExchangeFailure) in
          try await api.exchange(request, of: account, bearer: bearer.token, timeout: left)
        }
        left = max(left - (clock.now() - start), .zero)
        subject = bearer.subject ?? subject
        switch result {
        case .success(let response):
          step = machine.responded(response, apis[account], acceptance: acceptance[account] ?? TokenAcceptance())
          if (200...299).contains(response.status), apis[account] != nil {
            acceptance[account, default: TokenAcceptance()].accepted(bearer.token.fingerprint)
          }
        case .failure(let failure): step = machine.unanswered(failure)
        }
      case .respond(let response): return (response, subject)
      case .fail(let failure): throw failure
      }
    }
  }

  private func bearer(
    _ get: () async throws(BearerFailure) -> Bearer
  ) async throws(RequestFailure) -> Bearer {
    do throws(BearerFailure) {
      return try await get()
    } catch {
      switch error {
      case .noSession: throw .noSession
      case .unavailable(let message, let retryAfter):
        throw .refreshUnavailable(message: message, retryAfter: retryAfter)
      }
    }
  }
}

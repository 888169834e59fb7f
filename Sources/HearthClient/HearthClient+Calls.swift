import HearthControl
import HearthCore

extension HearthClient {
  /// Returns the state of every account.
  public func sessions() async throws -> [Session] {
    try await call(ListSessions(), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Returns the state of one account.
  public func status(of account: String) async throws -> Session {
    Session(value: try await call(GetSession(try name(account)), mayRepeat: true))
  }

  /// Returns a token for the account's APIs. If the current token expires within `validFor` (whole seconds, default:
  /// one minute), the daemon refreshes it first. The result may still expire sooner if the provider's tokens do not
  /// live that long or, without `validFor`, if the daemon cannot refresh at the moment.
  ///
  /// `url` is the URL that you will send the token to. The call fails if the URL's origin is not in the account's
  /// `api_origins`. Without `url`, the daemon does not check the destination.
  public func token(for account: String, validFor: Duration? = nil, url: String? = nil) async throws -> Token {
    Token(value: try await call(GetToken(try name(account), minValidity: validFor, url: url), mayRepeat: true))
  }

  /// Reports that an API answered 401 to a token. If the token is still current, the daemon refreshes it. If an API has
  /// just rejected the previous token too, the session may end instead. The daemon ignores reports about older tokens.
  /// Call ``token(for:validFor:url:)`` again afterwards.
  ///
  /// `wwwAuthenticate` is the response's `WWW-Authenticate` header. Join several headers with commas. If the header
  /// asks for more than a fresh token, the daemon does not refresh, because the API would reject a new token too.
  @discardableResult
  public func reportUnauthorized(_ token: Token, wwwAuthenticate: String? = nil) async throws -> Session {
    let call = ReportUnauthorized(
      token.value.account, fingerprint: token.fingerprint, wwwAuthenticate: wwwAuthenticate)
    return Session(value: try await self.call(call, mayRepeat: true))
  }

  /// Locks one account, or all accounts if `account` is `nil`. Until you unlock an account, the daemon does not return
  /// its token or send its requests.
  @discardableResult
  public func lock(_ account: String? = nil) async throws -> [Session] {
    try await call(LockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Removes the lock set by ``lock(_:)`` from one account, or from all accounts if `account` is `nil`. If the given
  /// account also needs a passphrase, the call fails with ``Failure/Kind-swift.enum/passphraseNeeded``. If `account` is
  /// `nil`, such accounts stay locked.
  @discardableResult
  public func unlock(_ account: String? = nil) async throws -> [Session] {
    try await call(UnlockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Queues a request, which the daemon delivers with the account's token. The account need not be signed in yet.
  /// Returns once the request is on disk.
  ///
  /// Items in the same `lane` are sent one after the other. If `lane` is `nil`, the item does not wait for other items.
  /// If you repeat a call with the same `idempotencyKey` and content, the request is queued only once. If `replaceKey`
  /// is set, the new item replaces the user's earlier undelivered items with the same key. If one of them is being
  /// sent, the new item waits until that attempt has ended.
  public func enqueue(
    _ request: Request, for account: String, lane: String? = "default", idempotencyKey: String? = nil,
    replaceKey: String? = nil
  ) async throws -> Receipt {
    let draft = OutboxDraft(
      account: try name(account), method: request.method, url: request.url, headers: request.fields, body: request.body,
      lane: Name(lane ?? "default"), isUnordered: lane == nil, idempotencyKey: idempotencyKey,
      replaceKey: replaceKey.map { Name($0) })
    return Receipt(value: try await call(Enqueue(draft), mayRepeat: idempotencyKey != nil))
  }

  /// Returns a queued request.
  public func item(_ id: String) async throws -> Item {
    Item(value: try await call(GetItem(id), mayRepeat: true))
  }

  /// Returns the number of items in each state, for one account, or for all accounts if `account` is `nil`.
  public func outbox(of account: String? = nil) async throws -> Outbox {
    Outbox(value: try await call(GetOutboxStats(try names(account)), mayRepeat: true))
  }

  /// Sends a request with the account's token and returns the API's response, whatever its status. The URL's origin
  /// must be in the account's `api_origins`. `timeout` limits how long the API may take, in whole seconds, up to five
  /// minutes.
  ///
  /// If `staleIfError` is set, the daemon may cache a 200 response to a `GET`. If you repeat the request with
  /// `staleIfError` and the API fails or cannot be reached, the daemon returns the cached response, if there is one,
  /// and its ``Answer/age``.
  public func send(
    _ request: Request, for account: String, timeout: Duration = .seconds(30), staleIfError: Bool = false
  ) async throws -> Answer {
    let draft = RequestDraft(
      account: try name(account), method: request.method, url: request.url, headers: request.fields, body: request.body,
      timeout: timeout)
    let isRead = ["GET", "HEAD"].contains(request.method)
    let call = SendRequest(draft, cache: staleIfError ? .staleIfError : .none)
    return Answer(value: try await self.call(call, mayRepeat: isRead, extra: timeout))
  }

  /// Calls any method of the protocol. The parameters and the result are JSON text. Set `mayRepeat` only if it is safe
  /// to make the call twice.
  public func call(_ method: String, json parameters: String = "{}", mayRepeat: Bool = false) async throws -> String {
    guard let params = try? JSON(parsing: Array(parameters.utf8)).object else {
      throw Failure(.refused(.invalidParams("The parameters are not a JSON object.")))
    }
    return try await call(method, params, mayRepeat: mayRepeat, within: timeout).description
  }

  private func name(_ account: String) throws -> AccountName {
    do {
      return try AccountName(asked: account)
    } catch {
      throw Failure(ControlClient.Failure(error))
    }
  }

  private func names(_ account: String?) throws -> AccountName? { try account.map(name) }
}

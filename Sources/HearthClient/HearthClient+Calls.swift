import HearthControl
import HearthCore

extension HearthClient {
  /// The state of every account.
  public func sessions() async throws -> [Session] {
    try await call(ListSessions(), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// The state of one account.
  public func status(of account: String) async throws -> Session {
    Session(value: try await call(GetSession(try name(account)), mayRepeat: true))
  }

  /// A token for the account's APIs, which is refreshed first where it would not be valid for so long, in whole seconds; a
  /// minute where nothing is said.
  ///
  /// `url`: where the token is to be sent. It is given only where that is one of the account's `api_origins`; without, that
  /// is the caller's to see to.
  public func token(for account: String, validFor: Duration? = nil, url: String? = nil) async throws -> Token {
    Token(value: try await call(GetToken(try name(account), minValidity: validFor, url: url), mayRepeat: true))
  }

  /// Tells that an API has answered 401 to a token. Then ask for another one: the current token is refreshed, while the
  /// report of an older one changes nothing.
  ///
  /// `wwwAuthenticate`: the field of that name in the answer, several joined by commas. Where the API asks by it for more than
  /// a fresh token, nothing changes, for another token would be answered 401 as well.
  @discardableResult
  public func reportUnauthorized(_ token: Token, wwwAuthenticate: String? = nil) async throws -> Session {
    let call = ReportUnauthorized(
      token.value.account, fingerprint: token.fingerprint, wwwAuthenticate: wwwAuthenticate)
    return Session(value: try await self.call(call, mayRepeat: true))
  }

  /// Locks an account, or all of them: no token is given and nothing is sent until it is unlocked.
  @discardableResult
  public func lock(_ account: String? = nil) async throws -> [Session] {
    try await call(LockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Takes away the lock that ``lock(_:)`` has set.
  @discardableResult
  public func unlock(_ account: String? = nil) async throws -> [Session] {
    try await call(UnlockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Queues a request, which the daemon delivers when it can, with the account's token: returns once it is on disk, in
  /// whatever state the account is.
  ///
  /// `lane`: items of one lane are sent one after the other; nil: this one waits for no other. `idempotencyKey`: the same
  /// key and content is queued once. `replaceKey`: the item replaces those with the same key that wait.
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

  /// All that is known of a queued request.
  public func item(_ id: String) async throws -> Item {
    Item(value: try await call(GetItem(id), mayRepeat: true))
  }

  /// How many items the outbox of one account holds, or of all.
  public func outbox(of account: String? = nil) async throws -> Outbox {
    Outbox(value: try await call(GetOutboxStats(try names(account)), mayRepeat: true))
  }

  /// Sends a request at once with the account's token, and returns what the API answers, with whatever status. It goes to
  /// the account's `api_origins` alone. `timeout`: for the API, in whole seconds, up to five minutes.
  ///
  /// `staleIfError`: the answer to a `GET` is kept, and the one kept last is returned, with its ``Answer/age``, where the API
  /// fails or is out of reach.
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

  /// Calls any method of the protocol: its parameters and its result are JSON objects, as text. `mayRepeat`: it changes
  /// nothing when it is called twice.
  public func call(_ method: String, json parameters: String = "{}", mayRepeat: Bool = false) async throws -> String {
    guard let params = try? JSON(parsing: Array(parameters.utf8)).object else {
      throw Failure(.refused(.invalidParams("The parameters are no JSON object.")))
    }
    return try await call(method, params, mayRepeat: mayRepeat, within: timeout).description
  }

  private func name(_ account: String) throws -> AccountName {
    do {
      return try AccountName(asked: account)
    } catch {
      throw Failure(.refused(error))
    }
  }

  private func names(_ account: String?) throws -> AccountName? { try account.map(name) }
}

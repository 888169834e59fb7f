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

  /// Returns a token for the account's APIs that is valid for at least this long, in whole seconds (default one minute). The
  /// daemon refreshes it first if necessary.
  ///
  /// `url` is the server that the token is for. The call fails if the server is not in the account's `api_origins`.
  /// Without `url`, you decide where to send the token.
  public func token(for account: String, validFor: Duration? = nil, url: String? = nil) async throws -> Token {
    Token(value: try await call(GetToken(try name(account), minValidity: validFor, url: url), mayRepeat: true))
  }

  /// Reports that an API answered 401 to a token. If it is the current token, the daemon refreshes it; a report about
  /// an older one changes nothing. Then ask for a token again.
  ///
  /// `wwwAuthenticate` is the field of that name in the answer; join several with commas. If the API asks for more than
  /// a fresh token in it, nothing changes, because the API would reject another token too.
  @discardableResult
  public func reportUnauthorized(_ token: Token, wwwAuthenticate: String? = nil) async throws -> Session {
    let call = ReportUnauthorized(
      token.value.account, fingerprint: token.fingerprint, wwwAuthenticate: wwwAuthenticate)
    return Session(value: try await self.call(call, mayRepeat: true))
  }

  /// Locks an account, or all accounts. Until you unlock it, the daemon gives out no token and sends nothing.
  @discardableResult
  public func lock(_ account: String? = nil) async throws -> [Session] {
    try await call(LockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Removes the lock that ``lock(_:)`` set.
  @discardableResult
  public func unlock(_ account: String? = nil) async throws -> [Session] {
    try await call(UnlockSessions(try names(account)), mayRepeat: true).sessions.map { Session(value: $0) }
  }

  /// Queues a request for the daemon to deliver with the account's token, whatever the state of the account. Returns once the
  /// request is on disk.
  ///
  /// Items of one `lane` are sent one after the other; with `nil`, this item waits for no other. With an `idempotencyKey`, the
  /// same content is queued only once. With a `replaceKey`, this item replaces waiting items with the same key.
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

  /// Returns how many items are in the outbox, for one account or for all.
  public func outbox(of account: String? = nil) async throws -> Outbox {
    Outbox(value: try await call(GetOutboxStats(try names(account)), mayRepeat: true))
  }

  /// Sends a request at once with the account's token, and returns the API's answer, whatever its status. The request must go
  /// to one of the account's `api_origins`. `timeout` is for the API, in whole seconds, up to five minutes.
  ///
  /// With `staleIfError`, the daemon keeps the answer to a `GET`. If the API later fails or cannot be reached, the
  /// daemon returns the last answer it kept, with its ``Answer/age``.
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

  /// Calls any method of the protocol, with its parameters and its result as JSON text. `mayRepeat` is true if the call may be
  /// made twice.
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
      throw Failure(.refused(error))
    }
  }

  private func names(_ account: String?) throws -> AccountName? { try account.map(name) }
}

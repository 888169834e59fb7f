package import HearthCore

/// A JSON-RPC error object (JSON-RPC 2.0, section 5.1).
package struct RPCError: Error, Hashable, Sendable {
  package let code: Int
  /// A message for the user, without secrets.
  package let message: String
  package let data: JSONObject?

  package init(code: Int, message: String, data: JSONObject? = nil) {
    (self.code, self.message, self.data) = (code, message, data)
  }

  /// Creates an error of Hearth's own kinds, with their `data`. `isRetryable` overrides the kind's default.
  package init(
    _ kind: Kind, account: AccountName? = nil, message: String, action: SessionState.Action? = nil,
    retryAfterSeconds: Int? = nil, isRetryable: Bool? = nil
  ) {
    var data: JSONObject = [
      "kind": .string(kind.rawValue), "retryable": .bool(isRetryable ?? kind.isRetryable),
      "account": JSON(account?.description), "message": .string(message), "action": JSON(action?.rawValue),
    ]
    if let retryAfterSeconds { data["retryAfterSeconds"] = JSON(retryAfterSeconds) }
    self.init(code: kind.code, message: message, data: data)
  }

  package typealias Kind = Failure.Kind

  /// The time after which to call again after `refreshUnavailable` if no better time is known.
  private static let usualRetry: Duration = .seconds(5)

  package init(_ failure: Failure) {
    let item = failure.item.map { "items[\($0)]" }
    guard failure.kind != .invalidParams else {
      self = .invalidParams("The parameter \(item.map { $0 + "." } ?? "")\(failure.message).")
      return
    }
    guard failure.kind != .internalError else {
      self = .internalError(failure.message)
      return
    }
    let retryAfter = failure.retryAfter ?? (failure.kind == .refreshUnavailable ? Self.usualRetry : nil)
    let error = RPCError(
      failure.kind, account: failure.account, message: (item.map { $0 + ": " } ?? "") + failure.message,
      action: failure.action, retryAfterSeconds: retryAfter?.roundedUpSeconds, isRetryable: failure.isRetryable)
    self = failure.challenge.map { error.with("challenge", $0.json) } ?? error
  }

  /// The error's kind, or `nil` if this version does not know the code.
  package var kind: Kind? { Kind(code: code) }

  package var isRetryable: Bool { data?["retryable"]?.bool ?? kind?.isRetryable ?? false }
  package var account: String? { data?["account"]?.string }
  package var action: SessionState.Action? { data?["action"]?.string.flatMap { SessionState.Action(rawValue: $0) } }
  package var challenge: Challenge? { data?["challenge"].flatMap { Challenge(json: $0) } }
  package var retryAfterSeconds: Int? { data?["retryAfterSeconds"]?.int }

  package var json: JSON {
    var object: JSONObject = ["code": JSON(code), "message": .string(message)]
    if let data { object["data"] = .object(data) }
    return .object(object)
  }

  /// Returns `nil` if the JSON is not an error object.
  package init?(json: JSON) {
    guard let code = json["code"]?.int, let message = json["message"]?.string else { return nil }
    self.init(code: code, message: message, data: json["data"]?.object)
  }
}

extension RPCError {
  /// Creates an error of JSON-RPC's own kinds, which has no `data`.
  private static func plain(_ kind: Kind, _ message: String) -> RPCError { RPCError(code: kind.code, message: message) }

  package static func parseError(_ message: String) -> RPCError { plain(.parseError, message) }
  package static func invalidRequest(_ message: String) -> RPCError { plain(.invalidRequest, message) }
  package static func invalidParams(_ message: String) -> RPCError { plain(.invalidParams, message) }
  package static func internalError(_ message: String) -> RPCError { plain(.internalError, message) }

  package static func methodNotFound(_ method: String) -> RPCError {
    plain(.methodNotFound, "There is no method \(method.quotedName).")
  }

  package static let shuttingDown = RPCError(Failure.shuttingDown)

  package static func overloaded(_ message: String) -> RPCError { RPCError(.overloaded, message: message) }

  /// Creates the error for an unknown account. Sanitizes `name`, because it is not necessarily a valid account name.
  package static func unknownAccount(_ name: String) -> RPCError {
    RPCError(.unknownAccount, message: Failure.unknownAccount(name))
      .with("account", .string(name.shown(limit: String.quotedNameLength)))
  }

  package static func unknownSignIn(_ id: String) -> RPCError {
    RPCError(.unknownSignIn, message: "There is no sign-in \(id.quotedName) in progress.")
  }

  /// Creates the error for a caller that requests different scopes (`invalid_scope`; RFC 6749, section 5.2) or a
  /// different audience (`invalid_target`; RFC 8707, section 2) from those of the account's tokens.
  package static func otherToken(_ code: String, _ account: AccountName, message: String) -> RPCError {
    RPCError(.invalidParams, account: account, message: message).with("error", .string(code))
  }

  private func with(_ key: String, _ value: JSON) -> RPCError {
    var data = data ?? [:]
    data[key] = value
    return RPCError(code: code, message: message, data: data)
  }
}

package import HearthCore

/// The error member of a response (JSON-RPC 2.0, section 5.1).
package struct RPCError: Error, Hashable, Sendable {
  package let code: Int
  /// One sentence for people, without secrets.
  package let message: String
  package let data: JSONObject?

  package init(code: Int, message: String, data: JSONObject? = nil) {
    (self.code, self.message, self.data) = (code, message, data)
  }

  /// An error of the contract. `data` has kind, retryable, account, message and action, and `retryAfterSeconds` if
  /// known. `isRetryable` overrides the kind's own value.
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

  /// The kind, or `nil` if this version does not know the code.
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
  /// The errors of the specification (JSON-RPC 2.0, section 5.1) and of the contract. The raw value is `data.kind`.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case parseError, invalidRequest, methodNotFound, invalidParams, internalError
    case shuttingDown, overloaded
    case unauthenticated, reauthRequired, locked, refreshUnavailable, unknownAccount, originNotAllowed, requestFailed
    case challenge
    case outboxFull, unknownItem, invalidItemState, idempotencyConflict, storageUnavailable
    case signInFailed, signInExpired, signInDenied, unknownSignIn, flowNotSupported
    case wrongPassphrase, passphraseNeeded

    package var code: Int {
      switch self {
      case .parseError: -32700
      case .invalidRequest: -32600
      case .methodNotFound: -32601
      case .invalidParams: -32602
      case .internalError: -32603
      case .shuttingDown: -32000
      case .overloaded: -32001
      case .unauthenticated: 1001
      case .reauthRequired: 1002
      case .locked: 1003
      case .refreshUnavailable: 1004
      case .unknownAccount: 1005
      case .originNotAllowed: 1006
      case .requestFailed: 1007
      case .challenge: 1008
      case .outboxFull: 1101
      case .unknownItem: 1102
      case .invalidItemState: 1103
      case .idempotencyConflict: 1104
      case .storageUnavailable: 1105
      case .signInFailed: 1201
      case .signInExpired: 1202
      case .signInDenied: 1203
      case .unknownSignIn: 1204
      case .flowNotSupported: 1205
      case .wrongPassphrase: 1301
      case .passphraseNeeded: 1302
      }
    }

    package init?(code: Int) {
      guard let kind = Kind.allCases.first(where: { $0.code == code }) else { return nil }
      self = kind
    }

    /// Whether the same call may succeed later without any action.
    package var isRetryable: Bool {
      switch self {
      case .shuttingDown, .overloaded, .locked, .refreshUnavailable, .requestFailed, .outboxFull, .storageUnavailable:
        true
      case .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError, .unauthenticated,
        .reauthRequired, .unknownAccount, .originNotAllowed, .challenge, .unknownItem, .invalidItemState,
        .idempotencyConflict, .signInFailed, .signInExpired, .signInDenied, .unknownSignIn, .flowNotSupported,
        .wrongPassphrase, .passphraseNeeded:
        false
      }
    }
  }
}

/// Errors with the same message or data everywhere.
extension RPCError {
  package static func parseError(_ message: String) -> RPCError {
    RPCError(code: Kind.parseError.code, message: message)
  }

  package static func invalidRequest(_ message: String) -> RPCError {
    RPCError(code: Kind.invalidRequest.code, message: message)
  }

  package static func methodNotFound(_ method: String) -> RPCError {
    RPCError(code: Kind.methodNotFound.code, message: "There is no method \(method.quotedName).")
  }

  package static func invalidParams(_ message: String) -> RPCError {
    RPCError(code: Kind.invalidParams.code, message: message)
  }

  package static func internalError(_ message: String) -> RPCError {
    RPCError(code: Kind.internalError.code, message: message)
  }

  package static let shuttingDown = RPCError(.shuttingDown, message: "The daemon is shutting down.")

  package static func overloaded(_ message: String) -> RPCError { RPCError(.overloaded, message: message) }

  /// `name` is the caller's text, even if no account could have this name. It is made safe to show.
  package static func unknownAccount(_ name: String) -> RPCError {
    RPCError(.unknownAccount, message: "There is no account \(name.quotedName) in the configuration.")
      .with("account", .string(name.shown(limit: String.quotedNameLength)))
  }

  package static func unknownItem(_ id: String) -> RPCError {
    RPCError(.unknownItem, message: "There is no item \(id.quotedName) in the outbox.")
  }

  package static func unknownSignIn(_ id: String) -> RPCError {
    RPCError(.unknownSignIn, message: "There is no sign-in \(id.quotedName) in progress.")
  }

  package static func challenge(_ challenge: Challenge, _ account: AccountName) -> RPCError {
    RPCError(.challenge, account: account, message: challenge.sentence).with("challenge", challenge.json)
  }

  /// `code` is OAuth's error code: `invalid_scope` (RFC 6749, section 5.2) or `invalid_target` (RFC 8707, section 2).
  package static func otherToken(_ code: String, _ account: AccountName, message: String) -> RPCError {
    RPCError(.invalidParams, account: account, message: message).with("error", .string(code))
  }

  private func with(_ key: String, _ value: JSON) -> RPCError {
    var data = data ?? [:]
    data[key] = value
    return RPCError(code: code, message: message, data: data)
  }

  package static func wrongPassphrase(
    _ account: AccountName, message: String, retryAfterSeconds: Int? = nil
  ) -> RPCError {
    RPCError(
      .wrongPassphrase, account: account, message: message, action: .unlock, retryAfterSeconds: retryAfterSeconds)
  }

  package static func passphraseNeeded(_ account: AccountName, message: String) -> RPCError {
    RPCError(.passphraseNeeded, account: account, message: message, action: .unlock)
  }
}

extension String {
  /// The maximum length of a quoted name, in Unicode scalars.
  fileprivate static let quotedNameLength = 100

  /// A caller's name for an error message: safe to show and shortened.
  package var quotedName: String { "\"\(shown(limit: Self.quotedNameLength))\"" }
}

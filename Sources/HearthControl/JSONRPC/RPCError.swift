package import HearthCore

/// The error member of a response (JSON-RPC 2.0, section 5.1).
package struct RPCError: Error, Hashable, Sendable {
  package let code: Int
  /// One sentence for people; holds no secret.
  package let message: String
  package let data: JSONObject?

  package init(code: Int, message: String, data: JSONObject? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// An error of the contract; `data` says kind, retryable, account, message and action, and `retryAfterSeconds`
  /// where it is known. `isRetryable`: where that is otherwise than for the rest of its kind.
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

  /// Nil for a code that this version does not know.
  package var kind: Kind? { Kind(code: code) }

  package var isRetryable: Bool { data?["retryable"]?.bool ?? kind?.isRetryable ?? false }
  package var account: String? { data?["account"]?.string }
  package var action: SessionState.Action? { data?["action"]?.string.flatMap { SessionState.Action(rawValue: $0) } }
  package var challenge: Challenge? { data?["challenge"].flatMap { Challenge(json: $0) } }
  package var retryAfterSeconds: Int? { data?["retryAfterSeconds"]?.int }
}

extension RPCError {
  package var json: JSON {
    var object: JSONObject = ["code": JSON(code), "message": .string(message)]
    if let data { object["data"] = .object(data) }
    return .object(object)
  }

  /// It is nil where it is no error object.
  package init?(json: JSON) {
    guard let code = json["code"]?.int, let message = json["message"]?.string else { return nil }
    self.init(code: code, message: message, data: json["data"]?.object)
  }
}

extension RPCError {
  /// The errors of the specification (JSON-RPC 2.0, section 5.1) and of the contract; the raw value is `data.kind`.
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

    /// The same call may succeed later without anybody doing anything about it.
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

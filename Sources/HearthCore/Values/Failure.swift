/// The reason why a call failed. Clients receive it as a JSON-RPC error.
package struct Failure: Error, Hashable, Sendable {
  package var kind: Kind
  /// A sentence without secrets. For `invalidParams`, it starts with the name of the parameter.
  package var message: String
  /// The account that the failure concerns, if any.
  package var account: AccountName?
  /// The index of the item that caused the failure, if the call has more than one item.
  package var item: Int?
  /// What the user has to do, if the session's state requires it.
  package var action: SessionState.Action?
  /// The time after which the same call may succeed, if known.
  package var retryAfter: Duration?
  /// What the API requires besides a fresh token. Only for the kind `challenge`.
  package var challenge: Challenge?
  /// Whether the same call may succeed later without any change by the user.
  package var isRetryable: Bool

  /// `isRetryable` overrides the kind's default.
  package init(
    _ kind: Kind, _ message: String, account: AccountName? = nil, item: Int? = nil, action: SessionState.Action? = nil,
    retryAfter: Duration? = nil, challenge: Challenge? = nil, isRetryable: Bool? = nil
  ) {
    (self.kind, self.message, self.account, self.item) = (kind, message, account, item)
    (self.action, self.retryAfter, self.challenge) = (action, retryAfter, challenge)
    self.isRetryable = isRetryable ?? kind.isRetryable
  }

  package static let shuttingDown = Failure(.shuttingDown, "The daemon is shutting down.")

  package static func unknownAccount(_ account: AccountName) -> Failure {
    Failure(.unknownAccount, unknownAccount(account.description), account: account)
  }

  /// Returns the message for an account name that is not in the configuration.
  package static func unknownAccount(_ name: String) -> String {
    "There is no account \(name.quotedName) in the configuration."
  }

  package static func originNotAllowed(_ origin: Origin, _ account: AccountName) -> Failure {
    Failure(
      .originNotAllowed,
      "\(origin) is not in the api_origins of \(account), so Hearth does not send its token there. Add it with "
        + "\"hearthctl account set \(account) --add api_origins \(origin)\".", account: account)
  }

  /// `message` starts with the name of the parameter.
  package static func invalidParams(_ message: String) -> Failure { Failure(.invalidParams, message) }

  /// Returns the failure for a request to `origin`, or `nil` if the account's configuration allows the request. `api`
  /// is `nil` if the account is not configured.
  package static func refusing(_ origin: Origin, of account: AccountName, by api: APISettings?) -> Failure? {
    guard let api else { return .unknownAccount(account) }
    return api.origins.contains(origin) ? nil : .originNotAllowed(origin, account)
  }

  /// The errors of JSON-RPC 2.0 (section 5.1) and of Hearth's own protocol. The raw value is `data.kind`.
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

    /// Whether the same call may succeed later without any change by the user.
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

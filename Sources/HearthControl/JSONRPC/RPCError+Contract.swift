extension RPCError {
  package static func parseError(_ message: String) -> RPCError {
    RPCError(code: Kind.parseError.code, message: message)
  }

  package static func invalidRequest(_ message: String) -> RPCError {
    RPCError(code: Kind.invalidRequest.code, message: message)
  }

  package static func methodNotFound(_ method: String) -> RPCError {
    RPCError(code: Kind.methodNotFound.code, message: "There is no method \"\(method)\".")
  }

  package static func invalidParams(_ message: String) -> RPCError {
    RPCError(code: Kind.invalidParams.code, message: message)
  }

  package static func internalError(_ message: String) -> RPCError {
    RPCError(code: Kind.internalError.code, message: message)
  }

  package static let shuttingDown = RPCError(.shuttingDown, message: "The daemon is shutting down.")

  package static func overloaded(_ message: String) -> RPCError {
    RPCError(.overloaded, message: message)
  }

  package static func unauthenticated(account: String, message: String, action: String? = "signIn") -> RPCError {
    RPCError(.unauthenticated, account: account, message: message, action: action)
  }

  package static func reauthRequired(account: String, message: String, action: String? = "signIn") -> RPCError {
    RPCError(.reauthRequired, account: account, message: message, action: action)
  }

  package static func locked(account: String, message: String, action: String?) -> RPCError {
    RPCError(.locked, account: account, message: message, action: action)
  }

  package static func refreshUnavailable(
    account: String, message: String, action: String? = nil, retryAfterSeconds: Int?
  ) -> RPCError {
    RPCError(
      .refreshUnavailable, account: account, message: message, action: action, retryAfterSeconds: retryAfterSeconds)
  }

  package static func unknownAccount(_ account: String) -> RPCError {
    RPCError(.unknownAccount, account: account, message: "There is no account \"\(account)\" in the configuration.")
  }

  package static func originNotAllowed(account: String, message: String) -> RPCError {
    RPCError(.originNotAllowed, account: account, message: message)
  }

  package static func requestFailed(account: String, message: String) -> RPCError {
    RPCError(.requestFailed, account: account, message: message)
  }

  package static func outboxFull(account: String? = nil, message: String) -> RPCError {
    RPCError(.outboxFull, account: account, message: message)
  }

  package static func unknownItem(_ id: String) -> RPCError {
    RPCError(.unknownItem, message: "There is no item \"\(id)\" in the outbox.")
  }

  package static func invalidItemState(account: String? = nil, message: String) -> RPCError {
    RPCError(.invalidItemState, account: account, message: message)
  }

  package static func idempotencyConflict(account: String, message: String) -> RPCError {
    RPCError(.idempotencyConflict, account: account, message: message)
  }

  package static func storageUnavailable(account: String? = nil, message: String) -> RPCError {
    RPCError(.storageUnavailable, account: account, message: message)
  }

  package static func signInFailed(account: String, message: String) -> RPCError {
    RPCError(.signInFailed, account: account, message: message)
  }

  package static func signInExpired(account: String, message: String) -> RPCError {
    RPCError(.signInExpired, account: account, message: message, action: "signIn")
  }

  package static func signInDenied(account: String, message: String) -> RPCError {
    RPCError(.signInDenied, account: account, message: message)
  }

  package static func unknownSignIn(_ id: String) -> RPCError {
    RPCError(.unknownSignIn, message: "There is no sign-in \"\(id)\" under way.")
  }

  package static func flowNotSupported(account: String, message: String) -> RPCError {
    RPCError(.flowNotSupported, account: account, message: message)
  }

  package static func wrongPassphrase(
    account: String, message: String, retryAfterSeconds: Int? = nil
  ) -> RPCError {
    RPCError(
      .wrongPassphrase, account: account, message: message, action: "unlock", retryAfterSeconds: retryAfterSeconds)
  }

  package static func passphraseNeeded(account: String, message: String) -> RPCError {
    RPCError(.passphraseNeeded, account: account, message: message, action: "unlock")
  }
}

package import HearthCore

/// The errors whose sentence or data are the same wherever they occur.
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

  package static func overloaded(_ message: String) -> RPCError {
    RPCError(.overloaded, message: message)
  }

  /// `name`: as the caller gave it, even where no account could have that name; fit to be shown then.
  package static func unknownAccount(_ name: String) -> RPCError {
    let error = RPCError(.unknownAccount, message: "There is no account \(name.quotedName) in the configuration.")
    var data = error.data ?? [:]
    data["account"] = .string(name.shown(limit: String.quotedNameLength))
    return RPCError(code: error.code, message: error.message, data: data)
  }

  package static func unknownItem(_ id: String) -> RPCError {
    RPCError(.unknownItem, message: "There is no item \(id.quotedName) in the outbox.")
  }

  package static func unknownSignIn(_ id: String) -> RPCError {
    RPCError(.unknownSignIn, message: "There is no sign-in \(id.quotedName) under way.")
  }

  package static func challenge(_ challenge: Challenge, _ account: AccountName) -> RPCError {
    let error = RPCError(.challenge, account: account, message: challenge.sentence)
    var data = error.data ?? [:]
    data["challenge"] = challenge.json
    return RPCError(code: error.code, message: error.message, data: data)
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
  /// In Unicode scalars.
  fileprivate static let quotedNameLength = 100

  /// A name that a caller has given, as an error repeats it: fit to be shown, and not longer than a line.
  package var quotedName: String { "\"\(shown(limit: Self.quotedNameLength))\"" }
}

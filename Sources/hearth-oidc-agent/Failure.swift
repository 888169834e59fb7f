import HearthClient
import HearthControl
import HearthCore

/// The reason why a request failed. `error` is oidc-agent's own phrase if there is one, because some clients recognize
/// it. `info` tells the user what to do.
struct Failure: Error, Hashable, Sendable {
  let error: String
  let info: String?

  init(_ error: String, info: String? = nil) {
    self.error = error
    self.info = info
  }

  /// Returns a failure unchanged, and converts an error from hearthd into oidc-agent's wording.
  init(_ error: any Error) {
    guard case ControlClient.Failure.refused(let error) = error else {
      self = error as? Failure ?? Failure("\(error)")
      return
    }
    switch (error.kind, error.data?["error"]?.string) {
    case (.locked, _): self.init("Agent locked", info: error.message)
    case (.unauthenticated, _): self.init("account not loaded", info: error.message)
    case (.reauthRequired, _): self.init("invalid_grant: the session has ended", info: error.message)
    case (.unknownAccount, _): self = .unknownAccount
    case (_, let code?): self.init(code, info: error.message)
    default: self.init(error.message)
    }
  }
}

extension Failure {
  static func malformed(_ reason: String) -> Failure { Failure("Bad Request: \(reason)") }

  static let undecryptable = Failure("decryption failed")

  static let locked = Failure(
    "Agent locked", info: "Unlock it with \"oidc-add --unlock\" and the password that locked it.")

  static let notLocked = Failure(
    "Agent not locked", info: "To unlock an account, run \"hearthctl unlock\".")

  static let wrongPassword = Failure("wrong password")

  static func tooSoon(_ wait: Duration) -> Failure {
    let seconds = (wait.wholeMilliseconds + 999) / 1000
    return Failure(
      "wrong password",
      info: "The password was not checked, because earlier passwords were wrong. Try again in \(seconds) s.")
  }

  static let noMemory = Failure(
    "memory alloc failed", info: "Nothing was locked, because there is not enough memory to store the password.")

  /// Clients recognize this phrase and may then try another agent.
  static let unknownAccount = Failure(
    "No account configured with that short name",
    info: "Hearth has no account with this name. Add one with \"hearthctl account add\".")

  static let unknownIssuer = Failure(
    "account not loaded",
    info: "Hearth has no account for this issuer. Add one with \"hearthctl account add\".")

  /// Returns the error for an issuer that has several accounts. Unlike oidc-agent, Hearth does not choose an account,
  /// because a program could get the wrong user's token.
  static func severalAccounts(_ accounts: [AccountName]) -> Failure {
    Failure(
      "There are several accounts with this issuer",
      info: "Request one of them by name: \(accounts.map(\.description).joined(separator: ", ")).")
  }

  static let idToken = Failure(
    "Not yet implemented", info: "Hearth provides only access tokens to oidc-agent's clients.")

  static let management = Failure(
    "operation forbidden",
    info: "Hearth manages the accounts. Change them with \"hearthctl account\", \"hearthctl login\" and \"hearthctl "
      + "logout\".")

  static let unknownRequest = malformed("Unknown request type.")
}

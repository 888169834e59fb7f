import HearthControl
import HearthCore

/// Why a client of oidc-agent does not get what it asks for: in oidc-agent's own phrase where it has one, which some
/// clients know, and in a sentence that says what to do.
struct AgentFailure: Error, Hashable {
  /// As which it is counted.
  let kind: RPCError.Kind
  let error: String
  let info: String?

  private init(_ kind: RPCError.Kind, _ error: String, info: String? = nil) {
    self.kind = kind
    self.error = error
    self.info = info
  }

  var answer: OIDCAgentAnswer { .failure(error, info: info) }

  /// What a session cannot give.
  init(_ error: RPCError) {
    let kind = error.kind ?? .internalError
    let phrases: [RPCError.Kind: String] = [
      .locked: "Agent locked", .unauthenticated: "account not loaded",
      .reauthRequired: "invalid_grant: the session has ended",
    ]
    if let phrase = phrases[kind] {
      self.init(kind, phrase, info: error.message)
    } else {
      self.init(kind, error.message)
    }
  }
}

extension AgentFailure {
  static let locked = AgentFailure(
    .locked, "Agent locked", info: "\"oidc-add --unlock\" with the password that locked it opens it again.")

  static let notLocked = AgentFailure(
    .invalidParams, "Agent not locked", info: "Accounts that are locked are unlocked by \"hearthctl unlock\".")

  static let wrongPassword = AgentFailure(.wrongPassphrase, "wrong password")

  static func tooSoon(_ wait: Duration) -> AgentFailure {
    let seconds = (wait.wholeMilliseconds + 999) / 1000
    return AgentFailure(
      .wrongPassphrase, "wrong password",
      info: "It was not tried, because passwords before were wrong; try again in \(seconds) s.")
  }

  static let noMemory = AgentFailure(
    .overloaded, "memory alloc failed", info: "Nothing was locked: there is not enough memory to keep the password.")

  /// The phrase by which clients know that they may ask another agent.
  static let unknownAccount = AgentFailure(
    .unknownAccount, "No account configured with that short name",
    info: "Hearth has no account of this name; \"hearthctl account add\" makes one.")

  static let unknownIssuer = AgentFailure(
    .unknownAccount, "account not loaded",
    info: "Hearth has no account of this issuer; \"hearthctl account add\" makes one.")

  /// oidc-agent would choose; whose token a program gets must not depend on that.
  static func severalAccounts(_ accounts: [AccountName]) -> AgentFailure {
    AgentFailure(
      .invalidParams, "There are several accounts of this issuer",
      info: "Ask for one by its name: \(accounts.map(\.description).joined(separator: ", ")).")
  }

  static func otherScopes(_ account: AccountName, _ offer: TokenOffer) -> AgentFailure {
    let scopes = offer.scopes.isEmpty ? "those that the provider gives" : "\"\(offer.scopes.joined(separator: " "))\""
    return AgentFailure(
      .invalidParams, "invalid_scope: the tokens of \(account) have other scopes",
      info: "Theirs are \(scopes). Ask without scopes, or add an account with these to the configuration.")
  }

  static func otherAudience(_ account: AccountName, _ offer: TokenOffer) -> AgentFailure {
    let audience = offer.audience.map { "\"\($0)\"" } ?? "the one that the provider gives"
    return AgentFailure(
      .invalidParams, "invalid_target: the tokens of \(account) have another audience",
      info: "Theirs is \(audience). Ask without one, or add an account whose token_parameters name this one.")
  }

  static let idToken = AgentFailure(
    .methodNotFound, "Not yet implemented", info: "Hearth gives access tokens alone to the clients of oidc-agent.")

  static let management = AgentFailure(
    .methodNotFound, "operation forbidden",
    info: "Hearth keeps the accounts: \"hearthctl account\", \"hearthctl login\" and \"hearthctl logout\" manage them.")

  static let unknownRequest = AgentFailure(.methodNotFound, "Bad Request: Unknown request type.")
}

package import HearthCore

/// What a client of oidc-agent asks for: a JSON object with `request` and its parameters, as oidc-agent's API names them
/// (oidc-agent 4, "API"). Parameters that are not known are passed over.
package enum OIDCAgentRequest: Hashable, Sendable {
  case accessToken(AccessToken)
  case loadedAccounts
  /// Whether an agent is there.
  case check
  /// What the agent is and has, as text.
  case status
  case statusJSON
  case lock(Secret)
  case unlock(Secret)
  case foreign(Foreign)

  /// What Hearth does not do for these clients.
  package enum Foreign: Hashable, Sendable {
    case idToken
    /// What oidc-agent's own programs have their agent do with its accounts, clients and files.
    case management
    case unknown
  }

  package struct AccessToken: Hashable, Sendable {
    package enum Owner: Hashable, Sendable {
      case account(String)
      case issuer(String)
    }

    package enum Validity: Hashable, Sendable {
      case atLeast(Duration)
      /// One that nobody was given before.
      case new
    }

    package var owner: Owner
    package var validity: Validity = .atLeast(.zero)
    /// Separated by spaces; nil: those of the account.
    package var scope: String?
    package var audience: String?

    package init(
      _ owner: Owner, validity: Validity = .atLeast(.zero), scope: String? = nil, audience: String? = nil
    ) {
      self.owner = owner
      self.validity = validity
      self.scope = scope
      self.audience = audience
    }
  }

  /// Why a request cannot be understood, as a sentence for people.
  package struct Malformed: Error, Hashable, Sendable {
    package let message: String

    package init(_ message: String) {
      self.message = message
    }
  }

  package init(_ json: JSON) throws(Malformed) {
    guard json.object != nil else { throw Malformed("A request is a JSON object.") }
    guard let name = try json.text("request") else { throw Malformed("No request type.") }
    switch name {
    case "access_token": self = .accessToken(try AccessToken(json))
    case "loaded_accounts": self = .loadedAccounts
    case "check": self = .check
    case "status": self = .status
    case "status_json": self = .statusJSON
    case "lock": self = .lock(try Self.password(json))
    case "unlock": self = .unlock(try Self.password(json))
    case "id_token": self = .foreign(.idToken)
    default: self = .foreign(Self.managing.contains(name) ? .management : .unknown)
    }
  }

  /// The requests that manage accounts, in the versions 4 and 5.
  private static let managing: Set = [
    "account_info", "add", "code_exchange", "delete", "delete_client", "device", "file_read", "file_remove",
    "file_write", "gen", "mytoken", "reauthenticate", "register", "remove", "remove_all", "scopes", "state_lookup",
    "term_http_server",
  ]

  private static func password(_ json: JSON) throws(Malformed) -> Secret {
    guard let password = try json.text("password") else {
      throw Malformed("The field \"password\" is missing or empty.")
    }
    return Secret(password)
  }
}

extension OIDCAgentRequest.AccessToken {
  /// What asks for a new token in the place of a time in seconds.
  private static let newToken = -1

  fileprivate init(_ json: JSON) throws(OIDCAgentRequest.Malformed) {
    if let account = try json.text("account") {
      owner = .account(account)
    } else if let issuer = try json.text("issuer") {
      owner = .issuer(issuer)
    } else {
      throw OIDCAgentRequest.Malformed("An access token is asked for by \"account\" or by \"issuer\".")
    }
    scope = try json.text("scope")
    audience = try json.text("audience")
    switch json["min_valid_period"] {
    case nil, .null?: break
    case let value?:
      // oidc-agent takes a number that is written as a string, too.
      guard let seconds = value.int ?? value.string.flatMap({ Int($0) }), seconds >= Self.newToken else {
        throw OIDCAgentRequest.Malformed("The field \"min_valid_period\" must be a whole number of seconds, or -1.")
      }
      validity = seconds == Self.newToken ? .new : .atLeast(.seconds(min(seconds, Int(Int32.max))))
    }
  }
}

extension JSON {
  /// It is nil where the member is missing, null or empty, as oidc-agent's clients leave out what they do not ask for.
  fileprivate func text(_ key: String) throws(OIDCAgentRequest.Malformed) -> String? {
    switch self[key] {
    case nil, .null?: return nil
    case .string(let text)?: return text.isEmpty ? nil : text
    case .bool?, .number?, .array?, .object?:
      throw OIDCAgentRequest.Malformed("The field \"\(key)\" must be a string.")
    }
  }
}

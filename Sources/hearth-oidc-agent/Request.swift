import HearthControl
import HearthCore

/// A request from an oidc-agent client. It is a JSON object with `request` and the parameters of oidc-agent's API
/// (oidc-agent 4, "API"). Unknown parameters are ignored.
enum Request: Hashable, Sendable {
  case accessToken(AccessToken)
  case loadedAccounts
  /// Asks whether an agent is running.
  case check
  /// Asks for a description of the agent, as text.
  case status
  case statusJSON
  case lock(Secret)
  case unlock(Secret)
  /// A request that Hearth does not support.
  case foreign(Failure)

  struct AccessToken: Hashable, Sendable {
    enum Owner: Hashable, Sendable {
      case account(String)
      case issuer(String)
    }

    enum Validity: Hashable, Sendable {
      case atLeast(Duration)
      /// A token from a new refresh, even if the current token is still valid.
      case new
    }

    var owner: Owner
    var validity: Validity = .atLeast(.zero)
    /// The scopes, separated by spaces, or `nil` for the account's scopes.
    var scope: String?
    var audience: String?
  }

  init(_ json: JSON) throws {
    guard json.object != nil else { throw Failure.malformed("A request must be a JSON object.") }
    guard let name = try json.text("request") else { throw Failure.malformed("No request type.") }
    switch name {
    case "access_token": self = .accessToken(try AccessToken(json))
    case "loaded_accounts": self = .loadedAccounts
    case "check": self = .check
    case "status": self = .status
    case "status_json": self = .statusJSON
    case "lock": self = .lock(try Self.password(json))
    case "unlock": self = .unlock(try Self.password(json))
    case "id_token": self = .foreign(.idToken)
    default: self = .foreign(Self.managing.contains(name) ? .management : .unknownRequest)
    }
  }

  /// The requests of oidc-agent 4 and 5 that manage accounts, clients or files. Only oidc-agent's own programs send them.
  private static let managing: Set = [
    "account_info", "add", "code_exchange", "delete", "delete_client", "device", "file_read", "file_remove",
    "file_write", "gen", "mytoken", "reauthenticate", "register", "remove", "remove_all", "scopes", "state_lookup",
    "term_http_server",
  ]

  private static func password(_ json: JSON) throws -> Secret {
    guard let password = try json.text("password") else {
      throw Failure.malformed("The field \"password\" is missing or empty.")
    }
    return Secret(password)
  }
}

extension Request.AccessToken {
  /// The value of `min_valid_period` that requests a new token.
  private static let newToken = -1

  fileprivate init(_ json: JSON) throws {
    if let account = try json.text("account") {
      owner = .account(account)
    } else if let issuer = try json.text("issuer") {
      owner = .issuer(issuer)
    } else {
      throw Failure.malformed("A request for an access token must contain \"account\" or \"issuer\".")
    }
    scope = try json.text("scope")
    audience = try json.text("audience")
    switch json["min_valid_period"] {
    case nil, .null?: break
    case let value?:
      // Like oidc-agent, accept a number in a string.
      guard let seconds = value.int ?? value.string.flatMap({ Int($0) }), seconds >= Self.newToken else {
        throw Failure.malformed(
          "The field \"min_valid_period\" must be a whole number of seconds, or -1 for a new token.")
      }
      validity = seconds == Self.newToken ? .new : .atLeast(.seconds(min(seconds, Int(Int32.max))))
    }
  }
}

extension JSON {
  /// Returns the string for a key, or `nil` if the string is missing, null or empty. oidc-agent's clients treat these
  /// cases alike.
  fileprivate func text(_ key: String) throws -> String? {
    switch self[key] {
    case nil, .null?: return nil
    case .string(let text)?: return text.isEmpty ? nil : text
    case .bool?, .number?, .array?, .object?:
      throw Failure.malformed("The field \"\(key)\" must be a string.")
    }
  }
}

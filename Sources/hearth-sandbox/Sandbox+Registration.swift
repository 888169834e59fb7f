import FoundationEssentials
import Hummingbird
import Synchronization

struct RegisteredClients: Codable, Sendable {
  struct Client: Codable, Sendable {
    let secret: String?
    /// The redirect URIs without ports. Native clients choose a port for each sign-in (RFC 8252, section 7.3).
    let redirects: Set<String>
  }

  var byID: [String: Client] = [:]

  static func withoutPort(_ address: String) -> String {
    guard var parts = URLComponents(string: address) else { return address }
    parts.port = nil
    return parts.string ?? address
  }
}

extension Sandbox {
  private struct Metadata: Codable {
    var redirectUris: [String]?
    var tokenEndpointAuthMethod, clientName, scope, clientId, clientSecret: String?
    var clientSecretExpiresAt: Int?
    var grantTypes, responseTypes: [String]?

    enum CodingKeys: String, CodingKey {
      case redirectUris = "redirect_uris"
      case tokenEndpointAuthMethod = "token_endpoint_auth_method"
      case clientName = "client_name"
      case scope
      case clientId = "client_id"
      case clientSecret = "client_secret"
      case clientSecretExpiresAt = "client_secret_expires_at"
      case grantTypes = "grant_types"
      case responseTypes = "response_types"
    }
  }

  /// Registers a client (RFC 7591, section 3).
  func register(_ call: Call) throws -> Response {
    if let token = settings.registrationToken, call.bearer != token {
      return .json(ErrorBody("invalid_token", "An initial access token is required."), status: .unauthorized)
    }
    if settings.refuseRegistration {
      return .json(ErrorBody("access_denied", "Only the administrator can register clients."), status: .forbidden)
    }
    guard var metadata = try? JSONDecoder().decode(Metadata.self, from: call.body) else {
      throw ErrorBody("invalid_client_metadata", "The body is not client metadata in JSON.")
    }
    guard let redirects = metadata.redirectUris, !redirects.isEmpty, redirects.allSatisfy({ RedirectURI($0) != nil })
    else { throw ErrorBody("invalid_redirect_uri", "The redirect_uris are missing, or one is not on loopback.") }
    if metadata.tokenEndpointAuthMethod != "none" || settings.registerSecrets {
      if metadata.tokenEndpointAuthMethod == "none" { metadata.tokenEndpointAuthMethod = "client_secret_basic" }
      (metadata.clientSecret, metadata.clientSecretExpiresAt) = (randomToken("cs"), 0)
    }
    let id = randomToken("client")
    metadata.clientId = id
    let client = RegisteredClients.Client(
      secret: metadata.clientSecret, redirects: Set(redirects.map(RegisteredClients.withoutPort)))
    state.withLock { $0.clients.byID[id] = client }
    return .json(metadata, status: .created)
  }
}

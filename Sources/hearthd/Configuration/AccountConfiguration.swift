import HearthCore
import HearthOAuth

/// One `[accounts.NAME]` of the configuration.
struct AccountConfiguration: Hashable, Sendable {
  let name: AccountName
  let provider: Provider
  /// The name of the preset whose peculiarities hold for this provider.
  var preset: String?
  /// Where Hearth itself sends this account's token, and nowhere else.
  var apiOrigins: [Origin] = []
  /// Nil: the default place in the state folder.
  var credentialFile: String?
  var protection: Protection = .none
  /// Opens what was sealed with it before the protection was another one.
  var formerKeyFile: String?
  var lockOn: Set<LockTrigger> = []
  var bearer: BearerKind = .accessToken
  /// Who the user is, where the provider does not tell.
  var subject: String?
  /// Of an access token whose provider tells no lifetime.
  var defaultLifetime: Duration?
  /// Further fields of every token request.
  var tokenParameters: [String: String] = [:]
  /// Further fields of the authorization request, for signing in.
  var authorizationParameters: [String: String] = [:]
  /// Error codes of this provider that end a session, besides the known ones.
  var finalErrors: [String] = []
  var connection = Connection()

  /// Where grants come from, and what is needed to ask for them.
  enum Provider: Hashable, Sendable {
    /// Endpoints by discovery.
    case oidc(issuer: String, Client)
    case oauth2(Endpoints, Client)
    case firebase(apiKey: Secret, tokenEndpoint: HTTPURL?)
    case json(JSONBackend)
    case clientCredentials(Authority, Client)
  }

  enum Authority: Hashable, Sendable {
    case issuer(String)
    case endpoints(Endpoints)
  }

  struct Client: Hashable, Sendable {
    let id: String
    var authentication = Authentication.automatic(secretFile: nil)
    var scopes: [String] = []

    /// How it shows the provider who it is. Files are read each time they are used.
    enum Authentication: Hashable, Sendable {
      case automatic(secretFile: String?)
      case none
      case basic(secretFile: String)
      case post(secretFile: String)
      case privateKeyJWT(Key)
      case appleSecret(Key, teamID: String)
      case tls(certificateFile: String, keyFile: String)
    }

    /// What it signs with.
    struct Key: Hashable, Sendable {
      let file: String
      var certificateFile: String?
      /// What the provider calls the key.
      var id: String?
      /// Nil: the token endpoint.
      var audience: String?
    }
  }

  /// How the account's requests travel, to the provider and to APIs.
  struct Connection: Hashable, Sendable {
    /// Trusted in place of the system's authorities.
    var caFile: String?
    var pins: Set<CertificatePin> = []
    /// Nil: what the environment says.
    var proxy: ProxyChoice?
  }

  struct Endpoints: Hashable, Sendable {
    let token: HTTPURL
    var authorization: HTTPURL?
    var deviceAuthorization: HTTPURL?
    var revocation: HTTPURL?
    var userInfo: HTTPURL?
  }

  /// A backend's own calls, and what it calls its fields; dots in a name are for nesting.
  struct JSONBackend: Hashable, Sendable {
    let refreshURL: HTTPURL
    var loginURL: HTTPURL?
    var refreshTokenField = "refresh_token"
    var accessTokenField = "access_token"
    var expiresInField = "expires_in"
  }

  /// What the credential file is sealed with.
  enum Protection: Hashable, Sendable {
    case none, passphrase, secretService
    case keyFile(String)
  }

  /// What locks the session at once, besides the user.
  enum LockTrigger: String, Hashable, Sendable {
    case unreadable
  }

  /// The credential lies at the same place, under the same protection.
  func isKept(as other: Self) -> Bool {
    credentialFile == other.credentialFile && protection == other.protection && formerKeyFile == other.formerKeyFile
  }
}

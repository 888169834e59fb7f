import HearthCore

/// What is known of a provider beforehand: where it answers, and in what it differs from others.
///
/// The keys of an account win over its preset.
package struct ProviderPreset: Sendable {
  package enum Place: Sendable {
    /// `oidc`: the endpoints are discovered at this issuer.
    case issuer(String)
    /// `oidc`: each customer has an issuer, which the account names; this one is an example.
    case ownIssuer(example: String)
    /// `oauth2`: these endpoints.
    case endpoints(ProviderEndpoints)
    /// `firebase`: Google's own token endpoint, or the emulator that the account names.
    case firebase
  }

  /// How the client shows who it is, in the words of the key `client_auth`.
  package enum ClientAuthentication: String, Sendable {
    case none, basic, post
    /// The secret is itself a JWT that the client signs, sent as `post` sends one.
    case apple
  }

  package enum Rotation: Hashable, Sendable {
    /// Each refresh brings a new refresh token, and the old one ends.
    case always
    /// Each refresh may bring a new one, and the old one goes on for a while or for good.
    case lenient
    /// The refresh token stays as it is.
    case never
    /// As the provider's administrator has set it.
    case asConfigured
  }

  /// The value of the key `provider`.
  package let name: String
  /// As its makers write it.
  package let title: String
  package let place: Place
  /// Nil: what discovery offers, else `basic`.
  package var clientAuthentication: ClientAuthentication?
  package var rotation: Rotation
  /// A request that names no scope asks for those of the grant (RFC 6749, section 6), which all understand; few need
  /// them named again, and some refuse names that are for signing in only.
  package var sendsScopeOnRefresh = false
  /// Scopes without which there is no refresh token.
  package var offlineScopes: [String] = []
  /// What a request to the authorization endpoint has to say besides, for a refresh token to come.
  package var authorizationParameters: [String: String] = [:]
  /// How long an access token lives where nothing tells.
  package var defaultLifetime: Duration?
  /// Error codes of its own that end a session.
  package var finalErrors: Set<String> = []
  /// What its refusals mean, where they do not mean what others' do.
  package var answerRules: [ResponseRule] = []
  /// The field of the userinfo endpoint's answer that names the user.
  package var userInfoSubjectField = "sub"

  init(_ name: String, title: String, at place: Place, rotation: Rotation) {
    (self.name, self.title, self.place, self.rotation) = (name, title, place, rotation)
  }

  /// Nil where no preset has this name.
  package static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

  /// Sorted.
  package static var names: [String] { all.map(\.name).sorted() }

  package static let all: [ProviderPreset] = [
    .amazon, .apple, .atlassian, .auth0, .cognito, .discord, .dropbox, .firebase, .github, .gitlab, .google, .hubspot,
    .keycloak, .linkedin, .microsoft, .okta, .salesforce, .slack, .spotify, .strava, .twitch, .zoom,
  ]
}

extension ProviderPreset {
  /// The type of account that it is for.
  package var accountType: String {
    switch place {
    case .issuer, .ownIssuer: "oidc"
    case .endpoints: "oauth2"
    case .firebase: "firebase"
    }
  }

  /// The issuer, where all customers have the same one.
  package var issuer: String? {
    if case .issuer(let text) = place { text } else { nil }
  }

  package var endpoints: ProviderEndpoints? {
    if case .endpoints(let endpoints) = place { endpoints } else { nil }
  }
}

extension ProviderConfiguration {
  /// Takes over what the account leaves open. Its own lifetime wins, and its own final errors are added to.
  package mutating func apply(_ preset: ProviderPreset) {
    defaultLifetime = defaultLifetime ?? preset.defaultLifetime
    finalErrors.formUnion(preset.finalErrors)
    answerRules += preset.answerRules
    sendsScopeOnRefresh = preset.sendsScopeOnRefresh
    userInfoSubjectField = preset.userInfoSubjectField
  }
}

extension ProviderEndpoints {
  /// A preset's, whose texts are known to be URLs; a test holds that.
  init(
    preset token: String, authorization: String? = nil, device: String? = nil, revocation: String? = nil,
    userInfo: String? = nil
  ) {
    func url(_ text: String) -> HTTPURL {
      guard let url = try? HTTPURL(text) else { preconditionFailure("the preset's endpoint is no URL: \(text)") }
      return url
    }
    self.init(
      token: url(token), authorization: authorization.map(url), deviceAuthorization: device.map(url),
      revocation: revocation.map(url), userInfo: userInfo.map(url))
  }
}

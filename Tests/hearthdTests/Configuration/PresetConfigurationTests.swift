import HearthCore
import Testing

@testable import HearthOAuth
@testable import hearthd

/// `provider`: what is known beforehand, and what an account says instead.
@Suite struct PresetConfigurationTests {
  private static let secret = ClientFile(name: "client secret", path: "/s", isSecret: true)

  private func provider(_ text: String) throws -> ProviderConfiguration {
    try ConfigurationTests.account(text).provider
  }

  @Test("a preset brings type, issuer and peculiarities")
  func issuer() throws {
    let google = try provider("provider = 'google'\nclient_id = 'c'\nclient_secret_file = '/s'")
    #expect(
      google.kind
        == .oauth(
          .discovered(try Issuer("https://accounts.google.com")),
          OAuthClient(id: "c", authentication: .post(Self.secret))))
    #expect(google.authorizationParameters["access_type"] == "offline")
    let salesforce = try provider("provider = 'salesforce'\nclient_id = 'c'\nfinal_errors = ['gone']")
    #expect(salesforce.defaultLifetime == .seconds(3600) && salesforce.finalErrors == ["gone"])
    #expect(!salesforce.responseRules.isEmpty && !salesforce.sendsScopeOnRefresh)
  }

  @Test("a preset brings endpoints, and each that the account names wins")
  func endpoints() throws {
    let github = try provider("provider = 'github'\nclient_id = 'c'\ntoken_endpoint = 'https://x.example/t'")
    guard case .oauth(.named(let endpoints), let client) = github.kind else {
      Issue.record("it is no oauth2 account")
      return
    }
    #expect(endpoints.token.description == "https://x.example/t")
    #expect(endpoints.userInfo?.description == "https://api.github.com/user")
    // Without a secret it names itself, whatever the preset says of one.
    #expect(client.authentication == .automatic(nil))
  }

  @Test("the keys of an account win over its preset")
  func keysWin() throws {
    let account = try provider(
      """
      provider = "google"
      type = "oauth2"
      client_id = "c"
      client_auth = "basic"
      client_secret_file = "/s"
      token_endpoint = "https://x.example/t"
      default_lifetime = "5m"
      authorization_parameters = { access_type = "online" }
      """)
    guard case .oauth(.named(let endpoints), let client) = account.kind else {
      Issue.record("it is no oauth2 account")
      return
    }
    #expect(endpoints.token.description == "https://x.example/t")
    #expect(client.authentication == .basic(Self.secret))
    #expect(account.authorizationParameters == ["access_type": "online", "prompt": "consent"])
    #expect(account.defaultLifetime == .seconds(300))
    let microsoft = try provider(
      "provider = 'microsoft'\nclient_id = 'c'\nissuer = 'https://login.microsoftonline.com/t/v2.0'")
    #expect(
      microsoft.kind
        == .oauth(.discovered(try Issuer("https://login.microsoftonline.com/t/v2.0")), OAuthClient(id: "c")))
  }

  @Test("a client-credentials account has its provider from a preset too")
  func clientCredentials() throws {
    let robot = "type = 'client-credentials'\nclient_id = 'c'\n"
    #expect(
      try provider(robot + "provider = 'google'").kind
        == .clientCredentials(.discovered(try Issuer("https://accounts.google.com")), OAuthClient(id: "c")))
    guard case .clientCredentials(.named(let endpoints), _) = try provider(robot + "provider = 'twitch'").kind
    else {
      Issue.record("it has no endpoints")
      return
    }
    #expect(endpoints.token.description == "https://id.twitch.tv/oauth2/token")
  }

  @Test("Apple's secret is made from the key, or is one that was made elsewhere")
  func apple() throws {
    let base = "provider = 'apple'\nclient_id = 'c'\n"
    let apple = try provider(base + "client_key_file = '/k.p8'\nclient_key_id = 'K'\nteam_id = 'T'")
    let key = ClientKey(file: ClientFile(name: "client key", path: "/k.p8", isSecret: true), id: "K")
    let client = OAuthClient(id: "c", authentication: .appleSecret(key, teamID: "T"))
    guard case .oauth(.named(let endpoints), client) = apple.kind else {
      Issue.record("it is \(apple.kind)")
      return
    }
    #expect(endpoints.token.description == "https://appleid.apple.com/auth/token")
    let secret = OAuthClient(id: "c", authentication: .post(Self.secret))
    #expect(try provider(base + "client_secret_file = '/s'").kind == .oauth(.named(endpoints), secret))
  }

  @Test("firebase has a preset of its own")
  func firebase() throws {
    let account = try provider("provider = 'firebase'\napi_key = 'k'")
    #expect(account.kind == .firebase(FirebaseProject(apiKey: Secret("k"))) && account.bearer == .idToken)
  }

  static let bad = [
    BadConfiguration(
      "[accounts.a]\nprovider = \"okta\"\nclient_id = \"c\"",
      "/c.toml:1: [accounts.a] lacks \"issuer\", which provider \"okta\" needs, for example \"https://example.okta.com/oauth2/default\""
    ),
    BadConfiguration(
      "[accounts.a]\nprovider = \"apple\"\nclient_id = \"c\"",
      "/c.toml:1: [accounts.a] lacks \"client_key_file\", which client_auth \"apple\" needs"),
    BadConfiguration(
      "[accounts.a]\nprovider = \"google\"\ntype = \"json\"\nrefresh_url = \"https://x.example\"",
      "/c.toml:2: \"provider\" in [accounts.a] cannot be \"google\" for an account of type \"json\""),
    BadConfiguration(
      "[accounts.a]\nprovider = \"firebase\"\ntype = \"oidc\"\nissuer = \"https://x.example\"\nclient_id = \"c\"",
      "/c.toml:2: \"provider\" in [accounts.a] cannot be \"firebase\" for an account of type \"oidc\""),
    BadConfiguration(
      "[accounts.a]\nprovider = \"google\"\nclient_id = \"c\"\ntoken_endpoint = \"https://x.example\"",
      "/c.toml:4: \"token_endpoint\" in [accounts.a] does not apply to an account of type \"oidc\""),
    BadConfiguration(
      "[accounts.a]\nprovider = \"google\"\ntype = \"oauth2\"\nclient_id = \"c\"",
      "/c.toml:1: [accounts.a] lacks \"token_endpoint\", which type \"oauth2\" needs"),
  ]

  @Test("what a preset cannot be used with is refused", arguments: bad)
  func refusal(_ bad: BadConfiguration) {
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationTests.read(bad.text) }
    #expect(error?.description == bad.sentence)
  }

  @Test("an unknown provider is refused with the names of those that are known")
  func unknown() {
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationTests.read("[accounts.a]\nprovider = \"gooogle\"\nclient_id = \"c\"")
    }
    let sentence = error?.description ?? ""
    #expect(sentence.hasPrefix("/c.toml:2: \"provider\" in [accounts.a] must be \"amazon\", "))
    #expect(sentence.hasSuffix(", not \"gooogle\""))
    for name in ProviderPreset.names { #expect(sentence.contains("\"\(name)\"")) }
  }
}

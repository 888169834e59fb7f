import HearthCore
import HearthOAuth
import TestSupport
import Testing

@testable import hearthd

/// `provider`: what is known beforehand, and what an account says instead.
@Suite struct PresetConfigurationTests {
  private typealias Client = AccountConfiguration.Client

  private func account(_ text: String) throws -> AccountConfiguration { try ConfigurationTests.account(text) }

  @Test("a preset brings type, issuer and peculiarities")
  func issuer() throws {
    let google = try account("provider = 'google'\nclient_id = 'c'\nclient_secret_file = '/s'")
    #expect(
      google.provider
        == .oidc(
          issuer: "https://accounts.google.com", Client(id: "c", authentication: .post(secretFile: "/s"))))
    #expect(google.authorizationParameters["access_type"] == "offline")
    let salesforce = try account("provider = 'salesforce'\nclient_id = 'c'\nfinal_errors = ['gone']")
      .providerConfiguration(MemoryFileSystem(folders: [], now: { .sample }), environment: ProxyEnvironment([:]))
    #expect(salesforce.defaultLifetime == .seconds(3600) && salesforce.finalErrors == ["gone"])
    #expect(!salesforce.answerRules.isEmpty && !salesforce.sendsScopeOnRefresh)
  }

  @Test("a preset brings endpoints, and each that the account names wins")
  func endpoints() throws {
    let github = try account("provider = 'github'\nclient_id = 'c'\ntoken_endpoint = 'https://x.example/t'")
    guard case .oauth2(let endpoints, let client) = github.provider else {
      Issue.record("it is no oauth2 account")
      return
    }
    #expect(endpoints.token.description == "https://x.example/t")
    #expect(endpoints.userInfo?.description == "https://api.github.com/user")
    // Without a secret it names itself, whatever the preset says of one.
    #expect(client.authentication == .automatic(secretFile: nil))
  }

  @Test("the keys of an account win over its preset")
  func keysWin() throws {
    let account = try account(
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
    guard case .oauth2(let endpoints, let client) = account.provider else {
      Issue.record("it is no oauth2 account")
      return
    }
    #expect(endpoints.token.description == "https://x.example/t")
    #expect(client.authentication == .basic(secretFile: "/s"))
    #expect(account.authorizationParameters == ["access_type": "online", "prompt": "consent"])
    #expect(account.defaultLifetime == .seconds(300))
    let microsoft = try self.account(
      "provider = 'microsoft'\nclient_id = 'c'\nissuer = 'https://login.microsoftonline.com/t/v2.0'")
    #expect(microsoft.provider == .oidc(issuer: "https://login.microsoftonline.com/t/v2.0", Client(id: "c")))
  }

  @Test("a client-credentials account has its provider from a preset too")
  func clientCredentials() throws {
    let robot = "type = 'client-credentials'\nclient_id = 'c'\n"
    #expect(
      try account(robot + "provider = 'google'").provider
        == .clientCredentials(.issuer("https://accounts.google.com"), Client(id: "c")))
    guard case .clientCredentials(.endpoints(let endpoints), _) = try account(robot + "provider = 'twitch'").provider
    else {
      Issue.record("it has no endpoints")
      return
    }
    #expect(endpoints.token.description == "https://id.twitch.tv/oauth2/token")
  }

  @Test("Apple's secret is made from the key, or is one that was made elsewhere")
  func apple() throws {
    let base = "provider = 'apple'\nclient_id = 'c'\n"
    let key = try account(base + "client_key_file = '/k.p8'\nclient_key_id = 'K'\nteam_id = 'T'")
    let client = Client(id: "c", authentication: .appleSecret(.init(file: "/k.p8", id: "K"), teamID: "T"))
    guard case .oauth2(let endpoints, client) = key.provider else {
      Issue.record("it is \(key.provider)")
      return
    }
    #expect(endpoints.token.description == "https://appleid.apple.com/auth/token")
    let secret = Client(id: "c", authentication: .post(secretFile: "/s"))
    #expect(try account(base + "client_secret_file = '/s'").provider == .oauth2(endpoints, secret))
  }

  @Test("firebase has a preset of its own")
  func firebase() throws {
    let account = try account("provider = 'firebase'\napi_key = 'k'")
    #expect(account.provider == .firebase(apiKey: Secret("k"), tokenEndpoint: nil) && account.bearer == .idToken)
  }

  static let bad = [
    BadConfiguration(
      "[accounts.a]\nprovider = \"okta\"\nclient_id = \"c\"",
      "/c.toml:1: [accounts.a] lacks \"issuer\", which provider \"okta\" needs, like \"https://example.okta.com/oauth2/default\""
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
      "/c.toml:4: \"token_endpoint\" in [accounts.a] means nothing for an account of type \"oidc\""),
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
    #expect(sentence.hasPrefix("/c.toml:2: \"provider\" in [accounts.a] cannot be \"gooogle\": it is \"amazon\", "))
    for name in ProviderPreset.names { #expect(sentence.contains("\"\(name)\"")) }
  }
}

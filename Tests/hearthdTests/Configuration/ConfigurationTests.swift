import HearthCore
import HearthStorage
import Logging
import Testing

@testable import HearthOAuth
@testable import hearthd

@Suite struct ConfigurationTests {
  static func read(
    _ text: String, roots: PathRoots = PathRoots(home: "/home/me", credentials: "/run/credentials/hearthd.service")
  ) throws -> Configuration {
    try Configuration(text: text, file: "/c.toml", roots: roots, proxies: environment)
  }

  /// The proxies that the environment names.
  static let environment = ProxyEnvironment(["HTTPS_PROXY": "proxy:1"])

  static func account(_ text: String) throws -> AccountConfiguration {
    try #require(try read("[accounts.a]\n" + text).accounts.first)
  }

  @Test("an empty file means the defaults and no accounts")
  func empty() throws {
    #expect(try Self.read("") == Configuration())
    #expect(try Self.read("# nothing\n") == Configuration())
    #expect(Configuration().logLevel == .info)
  }

  @Test("the socket for oidc-agent's clients is there where the file says so, above all tables")
  func oidcAgentSocket() throws {
    #expect(try Self.read("oidc_agent_socket = true\n[log]\nlevel = \"info\"").oidcAgentSocket)
    #expect(try !Self.read("oidc_agent_socket = false").oidcAgentSocket)
    #expect(!Configuration().oidcAgentSocket)
  }

  @Test("every setting of an oidc account is read")
  func oidc() throws {
    let account = try Self.account(
      """
      type            = "oidc"
      issuer          = "https://id.example.com/"
      client_id       = "hearth"
      client_secret_file = "/path"
      scopes          = ["openid", "offline_access"]
      api_origins     = ["https://api.example.com", "https://API.example.com:8443"]
      credential_file = "~/secure/work.json"
      protection      = "passphrase"
      lock_on         = ["unreadable"]
      on_reauth       = "browser"
      bearer          = "id_token"
      subject         = "me@example.com"
      username        = "ada-work"
      default_lifetime = "1h"
      """)
    #expect(account.name == AccountName("a") && account.session.username == "ada-work")
    let secret = ClientFile(name: "client secret", path: "/path", isSecret: true)
    #expect(
      account.provider.kind
        == .oauth(
          .discovered(try Issuer("https://id.example.com/")),
          OAuthClient(id: "hearth", authentication: .automatic(secret), scopes: ["openid", "offline_access"])))
    #expect(
      account.api.origins.map(\.description).sorted() == [
        "https://api.example.com", "https://api.example.com:8443",
      ])
    #expect(account.credential.file == "/home/me/secure/work.json")
    #expect(account.credential.protection == .passphrase)
    #expect(account.session.locksWhenUnreadable && account.session.reauthPrompt == .browser)
    #expect(account.session.bearer == .idToken && account.provider.bearer == .idToken)
    #expect(account.session.configuredSubject == Subject(issuer: "https://id.example.com/", id: "me@example.com"))
    #expect(account.session.configuredSubject?.isIssuerAssumed == false)
    #expect(account.session.binding == account.provider.binding && !account.session.renewsWithoutRefreshToken)
    #expect(account.provider.subject == "me@example.com")
    #expect(account.provider.defaultLifetime == .seconds(3600))
  }

  @Test(
    "neither what a session need not know nor another way to its provider changes where its grant is kept and is from",
    arguments: [
      "api_origins = ['https://api.example.com']", "expect = 'json'",
      "delivery = [{ status = 404, outcome = 'retry' }]", "scopes = ['mail']", "redirect_port = 4711",
      "authorization_parameters = { prompt = 'login' }",
      "lock_on = ['unreadable']", "on_reauth = 'browser'", "username = 'ada'",
      "client_secret_file = '/path'", "bearer = 'id_token'", "subject = 'me'", "proxy = 'http://127.0.0.1:1'",
      "final_errors = ['gone']", "default_lifetime = '1h'", "token_parameters = { audience = 'x' }",
      "ca_file = '/path'", "certificate_pins = ['sha256/\(String(repeating: "A", count: 43))=']",
    ])
  func sameGrants(_ line: String) throws {
    let (before, after) = (try Self.account(Self.plain), try Self.account(Self.plain + line))
    #expect(before != after && before.credential == after.credential)
    #expect(before.provider.sharesGrants(with: after.provider) && after.provider.sharesGrants(with: before.provider))
  }

  @Test(
    "grants are others for another issuer, client or type",
    arguments: [
      plain.replacing("id.", with: "other."),
      plain.replacing("'c'", with: "'d'"), plain.replacing("'oidc'", with: "'client-credentials'"),
    ])
  func otherGrants(_ text: String) throws {
    let (before, after) = (try Self.account(Self.plain), try Self.account(text))
    #expect(!before.provider.sharesGrants(with: after.provider) && !after.provider.sharesGrants(with: before.provider))
  }

  @Test("grants belong to the client at the origin of a token endpoint that is named, and to a project of Firebase")
  func grantsOfNamedEndpoints() throws {
    func shares(_ before: String, _ after: String) throws -> Bool {
      try Self.account(before).provider.sharesGrants(with: Self.account(after).provider)
    }
    let named = "type = 'oauth2'\nclient_id = 'c'\ntoken_endpoint = 'https://id.example.com/token'\n"
    #expect(try shares(named, named.replacing("/token", with: "/v2/token")))
    #expect(try shares(named, named + "revocation_endpoint = 'https://other.example.com/'"))
    #expect(try !shares(named, named.replacing("id.", with: "other.")))
    let json = "type = 'json'\nrefresh_url = 'https://id.example.com/refresh'\n"
    #expect(try shares(json, json + "refresh_token_field = 'renew'"))
    #expect(try !shares(json, json.replacing("id.", with: "other.")))
    let firebase = "type = 'firebase'\napi_key = 'one'\n"
    #expect(try !shares(firebase, firebase.replacing("one", with: "two")))
  }

  private static let plain = "type = 'oidc'\nissuer = 'https://id.example.com'\nclient_id = 'c'\n"

  @Test("[refresh] is for the sessions of all accounts")
  func refreshOfAccounts() throws {
    let read = try Self.read("[accounts.a]\n\(Self.plain)[refresh]\nmargin = '1m'")
    #expect(read.accounts.map(\.session.refresh.margin) == [.seconds(60)] && read.refresh.margin == .seconds(60))
  }

  @Test("what an account leaves out has its default")
  func accountDefaults() throws {
    let account = try Self.account("type = 'oidc'\nissuer = 'https://id.example.com'\nclient_id = 'c'")
    #expect(
      account.provider.kind == .oauth(.discovered(try Issuer("https://id.example.com")), OAuthClient(id: "c")))
    #expect(account.api.origins.isEmpty && !account.session.locksWhenUnreadable)
    #expect(account.credential.protection == .none && account.provider.bearer == .accessToken)
    #expect(account.credential.file == nil && account.credential.keyFile == nil)
    #expect(account.provider.subject == nil && account.provider.defaultLifetime == nil)
    #expect(account.session.configuredSubject == nil && account.session.bearer == .accessToken)
  }

  @Test("an oauth2 account names its endpoints")
  func oauth2() throws {
    let account = try Self.account(
      """
      type = "oauth2"
      client_id = "c"
      token_endpoint = "https://x.example/token"
      authorization_endpoint = "https://x.example/authorize"
      device_authorization_endpoint = "https://x.example/device"
      revocation_endpoint = "https://x.example/revoke"
      userinfo_endpoint = "https://x.example/userinfo"
      """)
    let endpoints = ProviderEndpoints(
      token: try HTTPURL("https://x.example/token"), authorization: try HTTPURL("https://x.example/authorize"),
      deviceAuthorization: try HTTPURL("https://x.example/device"),
      revocation: try HTTPURL("https://x.example/revoke"), userInfo: try HTTPURL("https://x.example/userinfo"))
    #expect(account.provider.kind == .oauth(.named(endpoints), OAuthClient(id: "c")))
  }

  @Test("a json account has a backend and its own names of fields, or the usual ones")
  func json() throws {
    let plain = JSONBackend(refreshURL: try HTTPURL("http://127.0.0.1:8080/refresh"))
    #expect(
      try Self.account("type = 'json'\nrefresh_url = 'http://127.0.0.1:8080/refresh'").provider.kind == .json(plain))
    #expect(plain.refreshTokenField == "refresh_token" && plain.accessTokenField == "access_token")
    #expect(plain.expiresInField == "expires_in")
    let account = try Self.account(
      """
      type = "json"
      refresh_url = "https://b.example/refresh"
      login_url = "https://b.example/login"
      refresh_token_field = "rt"
      access_token_field = "data.access_token"
      expires_in_field = "data.ttl"
      """)
    let backend = JSONBackend(
      refreshURL: try HTTPURL("https://b.example/refresh"), loginURL: try HTTPURL("https://b.example/login"),
      refreshTokenField: "rt", accessTokenField: "data.access_token", expiresInField: "data.ttl")
    #expect(account.provider.kind == .json(backend))
  }

  @Test("a firebase account has a key that does not print, and shows APIs its ID token")
  func firebase() throws {
    let account = try Self.account("type = 'firebase'\napi_key = 'AIza'\ntoken_endpoint = 'http://localhost:9/t'")
    let project = FirebaseProject(apiKey: Secret("AIza"), tokenEndpoint: try HTTPURL("http://localhost:9/t"))
    #expect(account.provider.kind == .firebase(project))
    #expect(account.provider.bearer == .idToken && account.session.bearer == .idToken)
    #expect(!"\(account)".contains("AIza"))
    #expect(
      try Self.account("type = 'firebase'\napi_key = 'k'\nbearer = 'access_token'").provider.bearer == .accessToken)
  }

  @Test("a client-credentials account has an issuer or names its endpoints")
  func clientCredentials() throws {
    let named = try Self.account("type = 'client-credentials'\nclient_id = 'c'\ntoken_endpoint = 'https://x.example/t'")
    let endpoints = ProviderEndpoints(token: try HTTPURL("https://x.example/t"))
    #expect(named.provider.kind == .clientCredentials(.named(endpoints), OAuthClient(id: "c")))
    #expect(named.session.renewsWithoutRefreshToken)
    let discovered = try Self.account("type = 'client-credentials'\nclient_id = 'c'\nissuer = 'https://x.example'")
    #expect(
      discovered.provider.kind
        == .clientCredentials(.discovered(try Issuer("https://x.example")), OAuthClient(id: "c")))
  }

  @Test("protection key-file has its file, and every other protection is read")
  func protection() throws {
    let base = "type = 'firebase'\napi_key = 'k'\n"
    let sealed = try Self.account(base + "protection = 'key-file'\nkey_file = '~/k'").credential
    #expect(sealed.protection == .keyFile && sealed.keyFile == "/home/me/k")
    #expect(
      try Self.account(base + "protection = 'key-file'\nkey_file = '%d/work.key'").credential.keyFile
        == "/run/credentials/hearthd.service/work.key")
    // It stays named until what it sealed has been written anew.
    for (kind, protection) in [("none", Protection.none), ("passphrase", .passphrase)] {
      let account = try Self.account(base + "protection = '\(kind)'\nkey_file = '~/k'")
      #expect(account.credential.protection == protection && account.credential.keyFile == "/home/me/k")
    }
    #expect(try Self.account(base + "protection = 'none'").credential.protection == .none)
  }

  @Test("accounts are sorted by name, however they are written")
  func sorted() throws {
    let text = """
      accounts.work = { type = "firebase", api_key = "k" }
      [accounts.home]
      type = "firebase"
      api_key = "k"
      [accounts."2nd"]
      type = "firebase"
      api_key = "k"
      """
    #expect(try Self.read(text).accounts.map(\.name.description) == ["2nd", "home", "work"])
  }

  @Test("refresh, outbox and log are read")
  func sections() throws {
    let configuration = try Self.read(
      """
      [refresh]
      margin = "0s"
      margin_fraction = 0
      jitter = 0.5
      backoff_initial = "500ms"
      backoff_max = "2m"
      request_timeout = "7s"
      [outbox]
      max_items = 1
      max_bytes = "64KiB"
      max_body = "1KiB"
      concurrency = 3
      retry_initial = "2s"
      retry_max = "1d"
      max_attempts = 4
      idempotency_horizon = "5h"
      keep_delivered = "0s"
      keep_dead = "7d"
      [log]
      level = "debug"
      """)
    var refresh = RefreshSettings()
    refresh.margin = .zero
    refresh.marginFraction = 0
    refresh.jitter = 0.5
    refresh.backoffInitial = .milliseconds(500)
    refresh.backoffMax = .seconds(120)
    refresh.requestTimeout = .seconds(7)
    #expect(configuration.refresh == refresh)
    var outbox = OutboxSettings()
    outbox.maxItems = 1
    outbox.maxBytes = 65_536
    outbox.maxBody = 1024
    outbox.concurrency = 3
    outbox.retryInitial = .seconds(2)
    outbox.retryMax = .seconds(86_400)
    outbox.maxAttempts = 4
    outbox.idempotencyHorizon = .seconds(18_000)
    outbox.keepDelivered = .zero
    outbox.keepDead = .seconds(604_800)
    outbox.requestTimeout = .seconds(7)
    #expect(configuration.outbox == outbox)
    #expect(configuration.logLevel == .debug)
  }

  @Test("a configuration that is fine is summed up in one line")
  func summary() throws {
    var configuration = Configuration()
    #expect(configuration.summary(path: "/c.toml") == "configuration /c.toml is fine: no accounts")
    #expect(configuration.summary(path: nil) == "there is no configuration file, so the defaults apply: no accounts")
    let text = "[accounts.NAME]\ntype = 'firebase'\napi_key = 'k'\n"
    let work = text.replacing("NAME", with: "work")
    configuration = try Self.read(work)
    #expect(configuration.summary(path: "/c.toml") == "configuration /c.toml is fine: 1 account (work)")
    configuration = try Self.read(work + text.replacing("NAME", with: "home"))
    #expect(configuration.summary(path: "/c.toml") == "configuration /c.toml is fine: 2 accounts (home, work)")
  }

  @Test(
    "durations and sizes are numbers with a unit",
    arguments: [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("6h", 21_600_000), ("7d", 604_800_000)])
  func durations(text: String, milliseconds: Int64) {
    #expect(ConfigurationValue.duration(from: text) == .milliseconds(milliseconds))
  }

  @Test("nothing else is a duration or a size")
  func noQuantities() {
    for text in ["", "5", "m", "5 m", "-5m", "1.5h", "5M", "5w", "٣s", "36526d", "99999999999999999999s"] {
      #expect(ConfigurationValue.duration(from: text) == nil, "\(text)")
    }
    #expect(ConfigurationValue.byteCount(from: "64KiB") == 65_536)
    #expect(ConfigurationValue.byteCount(from: "1MiB") == 1_048_576)
    #expect(ConfigurationValue.byteCount(from: "1GiB") == 1_073_741_824)
    for text in ["", "1", "1MB", "1mib", "KiB", "1.5MiB", "99999999999GiB"] {
      #expect(ConfigurationValue.byteCount(from: text) == nil, "\(text)")
    }
  }
}

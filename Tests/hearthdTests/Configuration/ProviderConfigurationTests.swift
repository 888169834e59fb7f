import HearthCore
import Testing

@testable import HearthOAuth
@testable import hearthd

@Suite struct ProviderConfigurationTests {
  private static let oidc = "type = 'oidc'\nissuer = 'https://id.example.com'\nclient_id = 'c'\n"

  private static let secret = ClientFile(name: "client secret", path: "/s", isSecret: true)
  private static let key = ClientFile(name: "client key", path: "/k", isSecret: true)

  private func authentication(_ text: String) throws -> ClientAuthentication? {
    guard case .oauth(_, let client) = try provider(text).kind else { return nil }
    return client.authentication
  }

  private func provider(_ text: String) throws -> ProviderConfiguration {
    try ConfigurationTests.account(Self.oidc + text).provider
  }

  @Test("each way of client authentication is read with its files")
  func clientAuthentication() throws {
    #expect(try authentication("") == .automatic(nil))
    #expect(try authentication("client_auth = 'auto'\nclient_secret_file = '/s'") == .automatic(Self.secret))
    #expect(try authentication("client_auth = 'none'") == ClientAuthentication.none)
    #expect(
      try authentication("client_auth = 'basic'\nclient_secret_file = '~/s'")
        == .basic(ClientFile(name: "client secret", path: "/home/me/s", isSecret: true)))
    #expect(try authentication("client_auth = 'post'\nclient_secret_file = '/s'") == .post(Self.secret))
    #expect(
      try authentication("client_auth = 'private_key_jwt'\nclient_key_file = '/k'")
        == .assertion(ClientKey(file: Self.key)))
    let whole = ClientKey(
      file: Self.key, certificate: ClientFile(name: "client certificate", path: "/c"), id: "1",
      audience: "https://a.example.com")
    #expect(
      try authentication(
        """
        client_auth = "private_key_jwt"
        client_key_file = "/k"
        client_certificate_file = "/c"
        client_key_id = "1"
        client_assertion_audience = "https://a.example.com"
        """) == .assertion(whole))
    let tls = "client_auth = 'tls'\nclient_key_file = '/k'\nclient_certificate_file = '%d/c'"
    #expect(try authentication(tls) == .tls)
    let certificate = ClientFile(name: "client certificate", path: "/run/credentials/hearthd.service/c")
    #expect(try provider(tls).route.identity == HTTPRoute.Identity(certificate: certificate, key: Self.key))
    #expect(
      try authentication("client_auth = 'apple'\nclient_key_file = '/k'\nclient_key_id = '1'\nteam_id = 't'")
        == .appleSecret(ClientKey(file: Self.key, id: "1"), teamID: "t"))
  }

  @Test("auto with a key signs with it")
  func automaticKey() throws {
    #expect(
      try authentication("client_key_file = '/k'\nclient_key_id = '1'")
        == .assertion(ClientKey(file: Self.key, id: "1")))
  }

  @Test("every type with an OAuth client has its authentication")
  func types() throws {
    let post = "\nclient_id = 'c'\nclient_auth = 'post'\nclient_secret_file = '/s'"
    let client = OAuthClient(id: "c", authentication: .post(Self.secret))
    let endpoints = ProviderEndpoints(token: try HTTPURL("https://x.example/t"))
    #expect(
      try ConfigurationTests.account("type = 'oauth2'\ntoken_endpoint = 'https://x.example/t'" + post).provider.kind
        == .oauth(.named(endpoints), client))
    #expect(
      try ConfigurationTests.account("type = 'client-credentials'\ntoken_endpoint = 'https://x.example/t'" + post)
        .provider.kind == .clientCredentials(.named(endpoints), client))
  }

  @Test("parameters, final errors and the connection are read, and a change of any is a change of the account")
  func connection() throws {
    let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let settings = [
      "token_parameters = { audience = 'https://api.example.com', resource = '' }",
      "authorization_parameters = { prompt = 'consent' }", "final_errors = ['token_revoked', 'gone']",
      "ca_file = '~/ca.pem'", "certificate_pins = ['\(pin)']", "proxy = 'http://me:s3cret@127.0.0.1:3128'",
    ]
    let plain = try ConfigurationTests.account(Self.oidc)
    for setting in settings { #expect(try ConfigurationTests.account(Self.oidc + setting) != plain) }
    let account = try provider(settings.joined(separator: "\n"))
    #expect(account.tokenParameters == ["audience": "https://api.example.com", "resource": ""])
    #expect(account.authorizationParameters == ["prompt": "consent"])
    #expect(account.finalErrors == ["token_revoked", "gone"])
    let proxy = try Proxy("http://me:s3cret@127.0.0.1:3128")
    #expect(account.route.authorities == ClientFile(name: "ca_file", path: "/home/me/ca.pem", limit: 1 << 20))
    #expect(account.route.pins == [try #require(CertificatePin(pin))] && account.route.proxy == .named(proxy))
    #expect(!"\(account)".contains("s3cret"))
    #expect(try provider("proxy = 'none'").route.proxy == .direct)
    #expect(plain.provider.route.proxy == .environment(ConfigurationTests.environment))
    let table = "[accounts.a.token_parameters]\naudience = 'x'"
    #expect(try provider(table).tokenParameters == ["audience": "x"])
  }

  @Test("what the account's API means by a status is read, and a change of it is a change of the account")
  func delivery() throws {
    let text = """
      [[accounts.a.delivery]]
      status = 409
      outcome = "delivered"
      [[accounts.a.delivery]]
      status = [404, 503]
      outcome = "retry"
      [[accounts.a.delivery]]
      status = 500
      outcome = "dead"
      """
    let expected = DeliveryOverrides([409: .delivered, 404: .retry, 503: .retry, 500: .dead])
    func account(_ text: String) throws -> AccountConfiguration { try ConfigurationTests.account(Self.oidc + text) }
    #expect(try account(text).api.overrides == expected)
    #expect(try account("delivery = [{ status = 404, outcome = 'retry' }]").api.overrides[404] == .retry)
    #expect(try account("").api.overrides == DeliveryOverrides())
    #expect(try account(text) != account(""))
  }

  @Test("a certificate is shown only by a client that authenticates with it")
  func identity() throws {
    let keys = "client_key_file = '/k'\nclient_certificate_file = '/c'\n"
    #expect(try provider(keys + "client_auth = 'tls'").route.identity != nil)
    #expect(try provider(keys + "client_auth = 'private_key_jwt'").route.identity == nil)
    #expect(try provider("").route.authorities == nil)
  }
}

import HearthCore
import HearthOAuth
import TestSupport
import Testing

@testable import hearthd

@Suite struct ProviderConfigurationTests {
  private typealias Client = AccountConfiguration.Client

  private static let oidc = "type = 'oidc'\nissuer = 'https://id.example.com'\nclient_id = 'c'\n"

  private func authentication(_ text: String) throws -> Client.Authentication? {
    guard case .oidc(_, let client) = try ConfigurationTests.account(Self.oidc + text).provider else { return nil }
    return client.authentication
  }

  @Test("each way of client authentication is read with its files")
  func clientAuthentication() throws {
    #expect(try authentication("") == .automatic(secretFile: nil))
    #expect(try authentication("client_auth = 'auto'\nclient_secret_file = '/s'") == .automatic(secretFile: "/s"))
    #expect(try authentication("client_auth = 'none'") == Client.Authentication.none)
    #expect(try authentication("client_auth = 'basic'\nclient_secret_file = '~/s'") == .basic(secretFile: "/home/me/s"))
    #expect(try authentication("client_auth = 'post'\nclient_secret_file = '/s'") == .post(secretFile: "/s"))
    #expect(
      try authentication("client_auth = 'private_key_jwt'\nclient_key_file = '/k'") == .privateKeyJWT(.init(file: "/k"))
    )
    let whole = Client.Key(file: "/k", certificateFile: "/c", id: "1", audience: "https://a.example.com")
    #expect(
      try authentication(
        """
        client_auth = "private_key_jwt"
        client_key_file = "/k"
        client_certificate_file = "/c"
        client_key_id = "1"
        client_assertion_audience = "https://a.example.com"
        """) == .privateKeyJWT(whole))
    #expect(
      try authentication("client_auth = 'tls'\nclient_key_file = '/k'\nclient_certificate_file = '%d/c'")
        == .tls(certificateFile: "/run/credentials/hearthd.service/c", keyFile: "/k"))
    #expect(
      try authentication("client_auth = 'apple'\nclient_key_file = '/k'\nclient_key_id = '1'\nteam_id = 't'")
        == .appleSecret(.init(file: "/k", id: "1"), teamID: "t"))
  }

  @Test("auto with a key signs with it")
  func automaticKey() throws {
    #expect(
      try authentication("client_key_file = '/k'\nclient_key_id = '1'") == .privateKeyJWT(.init(file: "/k", id: "1")))
  }

  @Test("every type with an OAuth client has its authentication")
  func types() throws {
    let post = "\nclient_id = 'c'\nclient_auth = 'post'\nclient_secret_file = '/s'"
    let client = Client(id: "c", authentication: .post(secretFile: "/s"))
    let endpoints = AccountConfiguration.Endpoints(token: try HTTPURL("https://x.example/t"))
    #expect(
      try ConfigurationTests.account("type = 'oauth2'\ntoken_endpoint = 'https://x.example/t'" + post).provider
        == .oauth2(endpoints, client))
    #expect(
      try ConfigurationTests.account("type = 'client-credentials'\ntoken_endpoint = 'https://x.example/t'" + post)
        .provider == .clientCredentials(.endpoints(endpoints), client))
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
    let account = try ConfigurationTests.account(Self.oidc + settings.joined(separator: "\n"))
    #expect(account.tokenParameters == ["audience": "https://api.example.com", "resource": ""])
    #expect(account.authorizationParameters == ["prompt": "consent"])
    #expect(account.finalErrors == ["token_revoked", "gone"])
    let proxy = try Proxy("http://me:s3cret@127.0.0.1:3128")
    #expect(
      account.connection
        == .init(caFile: "/home/me/ca.pem", pins: [try #require(CertificatePin(pin))], proxy: .named(proxy)))
    #expect(!"\(account)".contains("s3cret"))
    #expect(try ConfigurationTests.account(Self.oidc + "proxy = 'none'").connection.proxy == .direct)
    #expect(plain.connection.proxy == nil)
    let table = "[accounts.a.token_parameters]\naudience = 'x'"
    #expect(try ConfigurationTests.account(Self.oidc + table).tokenParameters == ["audience": "x"])
  }

  @Test("what is configured is what the parts are given")
  func assembly() throws {
    let account = try ConfigurationTests.account(
      Self.oidc + "client_auth = 'tls'\nclient_key_file = '/k'\nclient_certificate_file = '/c'\nca_file = '/ca'\n"
        + "token_parameters = { audience = 'x' }")
    let files = MemoryFileSystem(folders: [], now: { .sample })
    let environment = ProxyEnvironment(["HTTPS_PROXY": "proxy:1"])
    let provider = try account.providerConfiguration(files, environment: environment)
    #expect(provider.tokenParameters == ["audience": "x"])
    #expect(provider.route.identity != nil && provider.route.authorities != nil)
    #expect(provider.route.proxy == .environment(environment))
    let direct = try ConfigurationTests.account(Self.oidc + "proxy = 'none'")
      .providerConfiguration(files, environment: environment)
    #expect(direct.route.proxy == .direct && direct.route.identity == nil && direct.route.authorities == nil)
  }
}

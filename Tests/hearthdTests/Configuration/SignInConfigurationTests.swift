import HearthCore
import Testing

@testable import HearthOAuth
@testable import hearthd

/// `redirect_port` and `redirect_uri`.
@Suite struct SignInConfigurationTests {
  private static let oidc = "type = 'oidc'\nissuer = 'https://id.example.com'\nclient_id = 'c'\n"

  private func signIn(_ text: String) throws -> SignInSettings {
    try ConfigurationTests.account(text).provider.signIn
  }

  @Test("the browser is sent back to 127.0.0.1, at any free port, where nothing else is said")
  func usual() throws {
    let usual = try signIn(Self.oidc)
    #expect(usual.redirect == RedirectAddress(host: "127.0.0.1", port: nil, path: "/callback"))
    #expect(try signIn(Self.oidc + "redirect_port = 65535").redirect == RedirectAddress(port: 65_535))
  }

  @Test(
    "a whole address is taken as it is registered",
    arguments: [
      ("http://127.0.0.1:8765/a/b", RedirectAddress(host: "127.0.0.1", port: 8765, path: "/a/b")),
      ("http://[::1]:1/", RedirectAddress(host: "[::1]", port: 1, path: "/")),
      ("http://[::1]/cb", RedirectAddress(host: "[::1]", port: nil, path: "/cb")),
      ("http://localhost:80/cb", RedirectAddress(host: "localhost", port: 80, path: "/cb")),
      ("http://localhost", RedirectAddress(host: "localhost", port: nil, path: "")),
      ("HTTP://LOCALHOST:9", RedirectAddress(host: "localhost", port: 9, path: "")),
    ])
  func address(_ text: String, _ address: RedirectAddress) throws {
    #expect(try signIn(Self.oidc + "redirect_uri = '\(text)'").redirect == address)
  }

  @Test("a preset knows what its provider registers, and the account's own keys win")
  func presets() throws {
    #expect(try signIn("provider = 'google'\nclient_id = 'c'").redirect == RedirectAddress())
    #expect(
      try signIn("provider = 'microsoft'\nclient_id = 'c'").redirect
        == RedirectAddress(host: "localhost", port: nil, path: ""))
    #expect(
      try signIn("provider = 'twitch'\nclient_id = 'c'\nredirect_port = 3000").redirect
        == RedirectAddress(host: "localhost", port: 3000, path: "/callback"))
    let twitch = try signIn("provider = 'twitch'\nclient_id = 'c'\nredirect_uri = 'http://127.0.0.1/x'")
    #expect(twitch.redirect == RedirectAddress(path: "/x") && twitch.deviceDialect == .pluralScopes)
    let apple = "provider = 'apple'\nclient_id = 'c'\nclient_secret_file = '/s'\n"
    #expect(try signIn(apple).redirect == nil)
    #expect(try signIn("provider = 'linkedin'\nclient_id = 'c'").usesCodeChallenge == false)
    #expect(
      try signIn("provider = 'okta'\nissuer = 'https://x.okta.com'\nclient_id = 'c'").offlineScopes == [
        "offline_access"
      ])
  }

  static let bad = [
    ("redirect_port = 0", "/c.toml:5: \"redirect_port\" in [accounts.a] must be between 1 and 65535, not 0"),
    ("redirect_port = 65536", "/c.toml:5: \"redirect_port\" in [accounts.a] must be between 1 and 65535, not 65536"),
    ("redirect_port = \"1\"", "/c.toml:5: \"redirect_port\" in [accounts.a] must be an integer, not a string"),
    (
      "redirect_port = 1\nredirect_uri = \"http://localhost/\"",
      "/c.toml:1: [accounts.a] has both \"redirect_port\" and \"redirect_uri\"; remove one of them"
    ),
    (
      "redirect_uri = \"https://127.0.0.1/\"",
      "/c.toml:5: \"redirect_uri\" in [accounts.a] cannot be \"https://127.0.0.1/\": it must be an http URL with the host 127.0.0.1, [::1] or localhost"
    ),
    (
      "redirect_uri = \"http://127.0.0.2/\"",
      "/c.toml:5: \"redirect_uri\" in [accounts.a] cannot be \"http://127.0.0.2/\": it must be an http URL with the host 127.0.0.1, [::1] or localhost"
    ),
    (
      "redirect_uri = \"http://example.com/\"",
      "/c.toml:5: \"redirect_uri\" in [accounts.a] cannot be \"http://example.com/\": http is allowed only for "
        + "loopback addresses; use https"
    ),
    (
      "redirect_uri = \"http://localhost/?a=1\"",
      "/c.toml:5: \"redirect_uri\" in [accounts.a] cannot be \"http://localhost/?…\": it has a query"
    ),
    (
      "redirect_uri = \"http://localhost/#a\"",
      "/c.toml:5: \"redirect_uri\" in [accounts.a] cannot be \"http://localhost/#…\": it has a fragment (if the # "
        + "belongs to the path or the query, write %23)"
    ),
  ]

  @Test("what cannot be used is refused with one sentence that names file, line and key", arguments: bad)
  func refusal(_ text: String, _ sentence: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationTests.read(
        "[accounts.a]\ntype = \"oidc\"\nissuer = \"https://x.example\"\nclient_id = \"c\"\n" + text)
    }
    #expect(error?.description == sentence)
  }

  @Test(
    "none of the keys means anything where no browser is used",
    arguments: ["redirect_port = 1", "redirect_uri = 'http://localhost'"])
  func others(_ text: String) throws {
    for account in [
      "type = 'json'\nrefresh_url = 'https://x.example'\n", "type = 'firebase'\napi_key = 'k'\n",
      "type = 'client-credentials'\nclient_id = 'c'\nissuer = 'https://x.example'\n",
    ] {
      #expect(throws: ConfigurationError.self) { try ConfigurationTests.account(account + text) }
    }
  }
}

import HearthCore
import Testing

@testable import hearthd

extension BadConfiguration {
  /// One about an oidc account; what is given begins in line 5.
  fileprivate static func oidc(_ text: String, _ sentence: String) -> BadConfiguration {
    BadConfiguration("oidc", "issuer = \"https://x.example\"\nclient_id = \"c\"\n" + text, sentence)
  }

  static let clientProofs = [
    oidc(
      "client_auth = \"jwt\"",
      "/c.toml:5: \"client_auth\" in [accounts.a] must be \"auto\", \"none\", \"basic\", \"post\", \"private_key_jwt\", \"tls\" or \"apple\", not \"jwt\""
    ),
    oidc(
      "client_auth = \"basic\"",
      "/c.toml:1: [accounts.a] lacks \"client_secret_file\", which client_auth \"basic\" needs"
    ),
    oidc(
      "client_auth = \"private_key_jwt\"",
      "/c.toml:1: [accounts.a] lacks \"client_key_file\", which client_auth \"private_key_jwt\" needs"),
    oidc(
      "client_auth = \"tls\"\nclient_key_file = \"/k\"",
      "/c.toml:1: [accounts.a] lacks \"client_certificate_file\", which client_auth \"tls\" needs"),
    oidc(
      "client_auth = \"apple\"\nclient_key_file = \"/k\"\nclient_key_id = \"1\"",
      "/c.toml:1: [accounts.a] lacks \"team_id\", which client_auth \"apple\" needs"),
    oidc(
      "client_auth = \"none\"\nclient_secret_file = \"/s\"",
      "/c.toml:6: \"client_secret_file\" in [accounts.a] has no effect with client_auth = \"none\""),
    oidc(
      "client_auth = \"post\"\nclient_secret_file = \"/s\"\nclient_key_file = \"/k\"",
      "/c.toml:7: \"client_key_file\" in [accounts.a] has no effect with client_auth = \"post\""),
    oidc(
      "client_secret_file = \"/s\"\nclient_key_file = \"/k\"",
      "/c.toml:5: \"client_secret_file\" in [accounts.a] has no effect with client_auth = \"private_key_jwt\""),
    oidc(
      "client_key_file = \"/k\"\nclient_certificate_file = \"/c\"",
      "/c.toml:6: \"client_certificate_file\" in [accounts.a] requires client_auth = \"tls\" or \"private_key_jwt\""
    ),
    oidc(
      "client_certificate_file = \"/c\"",
      "/c.toml:5: \"client_certificate_file\" in [accounts.a] has no effect with client_auth = \"auto\""),
    oidc(
      "client_key_id = \"1\"", "/c.toml:5: \"client_key_id\" in [accounts.a] has no effect without \"client_key_file\""),
    oidc("team_id = \"1\"", "/c.toml:5: \"team_id\" in [accounts.a] has no effect with client_auth = \"auto\""),
    oidc(
      "client_auth = \"tls\"\nclient_key_file = \"k\"\nclient_certificate_file = \"/c\"",
      "/c.toml:6: \"client_key_file\" in [accounts.a] must be a path that begins with /, ~/, %d/ or %t/, not a string of 1 characters"
    ),
    BadConfiguration(
      "json", "refresh_url = \"https://x.example\"\nclient_auth = \"none\"",
      "/c.toml:4: \"client_auth\" in [accounts.a] does not apply to an account of type \"json\""),
    BadConfiguration(
      "oauth2",
      "token_endpoint = \"http://127.0.0.1/t\"\nclient_id = \"c\"\nclient_auth = \"tls\"\nclient_key_file = \"/k\"\nclient_certificate_file = \"/c\"",
      "/c.toml:7: \"client_certificate_file\" in [accounts.a] has no effect, because the provider uses http"),
  ]

  static let connections = [
    oidc(
      "certificate_pins = [\"sha256/abc\"]",
      "/c.toml:5: \"certificate_pins\" in [accounts.a] cannot contain \"sha256/abc\": a pin must be \"sha256/\" "
        + "and the Base64-encoded SHA-256 hash of a public key"
    ),
    oidc(
      "certificate_pins = \"sha256/abc\"",
      "/c.toml:5: \"certificate_pins\" in [accounts.a] must be an array of strings, not a string"),
    oidc(
      "ca_file = \"ca.pem\"",
      "/c.toml:5: \"ca_file\" in [accounts.a] must be a path that begins with /, ~/, %d/ or %t/, not \"ca.pem\""),
    BadConfiguration(
      "json", "refresh_url = \"http://127.0.0.1/r\"\napi_origins = [\"http://127.0.0.1\"]\nca_file = \"/ca.pem\"",
      "/c.toml:5: \"ca_file\" in [accounts.a] has no effect, because the provider and all APIs use http"),
    oidc(
      "proxy = \"https://me:s3cret@proxy:3128\"",
      "/c.toml:5: \"proxy\" in [accounts.a] cannot be \"https://…@proxy:3128\": its scheme must be http "
        + "or socks5"
    ),
    oidc("proxy = true", "/c.toml:5: \"proxy\" in [accounts.a] must be a string, not a boolean"),
  ]

  static let parameters = [
    oidc(
      "token_parameters = \"audience=x\"",
      "/c.toml:5: \"token_parameters\" in [accounts.a] must be a table of strings, not a string"),
    oidc(
      "[accounts.a.token_parameters]\naudience = \"x\"\nlifetime = 5",
      "/c.toml:7: \"lifetime\" in \"token_parameters\" of [accounts.a] must be a string, not an integer"),
    oidc(
      "token_parameters = { scope = \"x\" }",
      "/c.toml:5: \"scope\" in \"token_parameters\" of [accounts.a] cannot be set, because Hearth sets it"),
    oidc(
      "[accounts.a.token_parameters]\nclient_assertion_type = \"x\"",
      "/c.toml:6: \"client_assertion_type\" in \"token_parameters\" of [accounts.a] cannot be set, because Hearth sets "
        + "it"
    ),
    BadConfiguration(
      "json",
      "refresh_url = \"https://x.example\"\nrefresh_token_field = \"data.rt\"\ntoken_parameters = { data = \"x\" }",
      "/c.toml:5: \"data\" in \"token_parameters\" of [accounts.a] cannot be set, because Hearth sets it"),
    oidc(
      "authorization_parameters = { state = \"x\" }",
      "/c.toml:5: \"state\" in \"authorization_parameters\" of [accounts.a] cannot be set, because Hearth sets it"),
    BadConfiguration(
      "firebase", "api_key = \"k\"\nauthorization_parameters = { prompt = \"x\" }",
      "/c.toml:4: \"authorization_parameters\" in [accounts.a] does not apply to an account of type \"firebase\""),
    BadConfiguration(
      "client-credentials", "client_id = \"c\"\nissuer = \"https://x.example\"\nfinal_errors = [\"gone\"]",
      "/c.toml:5: \"final_errors\" in [accounts.a] does not apply to an account of type \"client-credentials\""),
    oidc(
      "final_errors = [1]",
      "/c.toml:5: \"final_errors\" in [accounts.a] must be an array of strings, but one element is an integer"),
  ]
}

@Suite struct BadProviderConfigurationTests {
  private static let secret = "GOCSPX-0123456789abcdef"

  @Test(
    "a secret in the place of its file's path, or in the query of a URL, is not repeated",
    arguments: [
      "client_id = 'c'\nissuer = 'https://x.example'\nclient_secret_file = 'S'",
      "client_id = 'c'\nissuer = 'https://x.example'\nclient_auth = 'private_key_jwt'\nclient_key_file = 'S'",
      "client_id = 'c'\nissuer = 'https://x.example'\nprotection = 'key-file'\nkey_file = 'S'",
      "client_id = 'c'\nissuer = 'https://x.example/?key=S'",
      "client_id = 'c'\nissuer = 'https://x.example'\nredirect_uri = 'http://127.0.0.1/?key=S'",
      "client_id = 'c'\nissuer = 'https://x.example'\nproxy = 'ftp://x.example/?key=S'",
      "client_id = 'c'\nissuer = 'https://x.example'\napi_origins = ['https://x.example/?key=S']",
    ])
  func unrepeated(_ table: String) {
    let text = "[accounts.a]\ntype = 'oidc'\n" + table.replacing("S", with: Self.secret)
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationTests.read(text) }
    #expect(error?.description.contains(Self.secret) == false, "\(error?.description ?? "")")
  }

  @Test(
    "what a provider cannot be asked with is refused with one sentence that names file, line and key",
    arguments: [BadConfiguration.clientProofs, BadConfiguration.connections, BadConfiguration.parameters].flatMap(
      \.self))
  func refusal(_ bad: BadConfiguration) {
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationTests.read(bad.text) }
    #expect(error?.description == bad.sentence)
  }
}

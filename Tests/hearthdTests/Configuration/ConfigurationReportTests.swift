import HearthControl
import HearthCore
import HearthLinux
import TestSupport
import Testing

@testable import HearthOAuth
@testable import hearthd

/// What `hearthctl account` is told.
@Suite struct ConfigurationReportTests {
  private static let samples: [ProviderKey: String] = [
    .clientID: "c", .issuer: "https://id.example.com", .apiKey: "SECRET-KEY", .clientKeyFile: "/k.p8",
    .clientKeyID: "K",
    .teamID: "T",
  ]

  private func configuration(_ preset: ProviderPreset, without missing: ProviderKey? = nil) throws -> Configuration {
    let keys = preset.requiredKeys.filter { $0 != missing }
    let lines = try keys.map { "\($0.rawValue) = \"\(try #require(Self.samples[$0]))\"" }
    return try ConfigurationTests.read(
      "[accounts.a]\nprovider = \"\(preset.name)\"\n" + lines.map { $0 + "\n" }.joined())
  }

  @Test("an account with the keys that its preset requires can be used", arguments: ProviderPreset.names)
  func sufficient(_ name: String) throws {
    let preset = try #require(ProviderPreset.named(name))
    let account = try #require(try configuration(preset).accounts.first)
    #expect(account.provider.preset == name && account.provider.kind.type == preset.accountType)
  }

  @Test("an account without one of them cannot, and is told which", arguments: ProviderPreset.names)
  func necessary(_ name: String) throws {
    let preset = try #require(ProviderPreset.named(name))
    for key in preset.requiredKeys {
      let error = #expect(throws: ConfigurationError.self) { try configuration(preset, without: key) }
      #expect(error?.description.contains("lacks \"\(key.rawValue)\"") == true, "\(key)")
    }
  }

  @Test("accounts are reported with type, preset and issuer, and without a secret")
  func accounts() throws {
    let configuration = try ConfigurationTests.read(
      """
      [accounts.b]
      provider = "firebase"
      api_key = "SECRET-KEY"
      [accounts.a]
      type = "oidc"
      issuer = "https://id.example.com"
      client_id = "c"
      [[accounts.b.sinks]]
      path = "/run/b.token"
      mode = "0640"
      group = "app"
      """)
    let report = ConfigurationReport.accounts(of: configuration, path: "/c.toml")
    #expect(
      report == [
        "path": "/c.toml",
        "accounts": [
          [
            "account": "a", "type": "oidc", "provider": nil, "issuer": "https://id.example.com", "protection": "none",
            "keyFile": nil,
          ],
          [
            "account": "b", "type": "firebase", "provider": "firebase",
            "issuer": "https://securetoken.googleapis.com", "protection": "none", "keyFile": nil,
          ],
        ],
        "sinks": [
          [
            "account": "b", "path": "/run/b.token", "format": "token", "mode": "0640", "bearer": nil,
            "owner": nil, "group": "app", "hosts": nil, "login": nil, "writtenInPlace": false,
          ]
        ],
      ])
  }

  @Test("every preset is reported with what it needs")
  func providers() throws {
    let providers = ConfigurationReport.providers["providers"]?.array ?? []
    #expect(providers.compactMap { $0["provider"]?.string } == ProviderPreset.names)
    #expect(
      providers.first { $0["provider"] == "okta" } == [
        "provider": "okta", "type": "oidc", "issuer": nil, "issuerExample": "https://example.okta.com/oauth2/default",
        "required": ["issuer", "client_id"], "usual": [], "apiOrigins": [],
      ])
    #expect(providers.first { $0["provider"] == "google" }?["usual"] == ["client_secret_file"])
    #expect(providers.first { $0["provider"] == "microsoft" }?["apiOrigins"] == ["https://graph.microsoft.com"])
    for provider in providers {
      for origin in provider["apiOrigins"]?.array?.compactMap(\.string) ?? [] {
        #expect(try HTTPURL(origin + "/").origin.description == origin, "it is written as an origin is")
      }
    }
  }

  @Test("the server of endpoints that are configured is tried, and it is said whether it may answer later")
  func endpoints() async throws {
    let configuration = try ConfigurationTests.read(
      "[accounts.a]\nprovider = \"github\"\nclient_id = \"c\"\ntoken_endpoint = \"http://127.0.0.1:1/token\"\n")
    let paths = ConfiguredPaths(environment: [:], workingDirectory: "/")
    let report = await ConfigurationReport.endpoints(of: "a", in: configuration, paths)
    #expect(report["error"]?.string?.hasPrefix("No connection to http://127.0.0.1:1: ") == true)
    #expect(report["mayPass"] == true)
    let missing = await ConfigurationReport.endpoints(of: "b", in: configuration, paths)
    #expect(missing["error"]?.string?.contains("no account \"b\"") == true && missing["mayPass"] == nil)
  }

  @Test("a text that is no mail address belongs to no provider, and it is said so", arguments: ["ada", "@x", "ada@"])
  func noAddress(text: String) async throws {
    let paths = ConfiguredPaths(environment: [:], workingDirectory: "/")
    let report = await ConfigurationReport.provider(of: text, paths)
    #expect(report["error"] == .string("\"\(text)\" is not an email address."))
  }
}

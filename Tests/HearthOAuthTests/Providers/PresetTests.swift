import FoundationEssentials
import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Presets of providers") struct PresetTests {
  @Test("are found by their names, which are told in order")
  func names() {
    #expect(ProviderPreset.names == ProviderPreset.names.sorted())
    #expect(Set(ProviderPreset.names).count == ProviderPreset.all.count)
    for name in ProviderPreset.names { #expect(ProviderPreset.named(name)?.name == name) }
    #expect(ProviderPreset.named("nobody") == nil && ProviderPreset.named("Google") == nil)
  }

  @Test("name issuers and endpoints that can be used", arguments: ProviderPreset.names)
  func places(_ name: String) throws {
    let preset = try #require(ProviderPreset.named(name))
    switch preset.place {
    case .issuer(let text), .ownIssuer(let text):
      #expect(preset.accountType == .oidc && preset.endpoints == nil)
      #expect(try Issuer(text).discoveryURL.origin.scheme == "https")
    case .endpoints(let endpoints):
      #expect(preset.accountType == .oauth2 && preset.issuer == nil)
      #expect(endpoints.token.origin.scheme == "https" && endpoints.authorization != nil)
    case .firebase: #expect(preset.accountType == .firebase)
    }
  }

  @Test("leave the account what it says itself, and add to its final errors")
  func apply() throws {
    let slack = try #require(ProviderPreset.named("slack"))
    let salesforce = try #require(ProviderPreset.named("salesforce"))
    let client = OAuthClient(id: "h")
    var own = ProviderConfiguration(
      kind: .oauth(.discovered(try Issuer("https://id.example.com")), client), defaultLifetime: .seconds(900))
    own.finalErrors = ["mine"]
    own.apply(salesforce)
    #expect(own.defaultLifetime == .seconds(900) && own.finalErrors == ["mine"] && !own.sendsScopeOnRefresh)
    own.apply(slack)
    #expect(own.finalErrors == ["mine", "token_revoked"])
    var silent = ProviderConfiguration(kind: own.kind)
    silent.apply(salesforce)
    #expect(silent.defaultLifetime == .seconds(3600))
  }

  @Test("say whether the scopes are named again")
  func scopes() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.grant("/token")
      let kind = ProviderConfiguration.Kind.oauth(
        .discovered(try Issuer(bench.base)), OAuthClient(id: "h", scopes: ["offline_access"]))
      for name in ["google", "microsoft"] {
        var configuration = ProviderConfiguration(kind: kind)
        configuration.apply(try #require(ProviderPreset.named(name)))
        let endpoint = configuration.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
        _ = try await endpoint.refresh(bench.credential())
        #expect(bench.requests.last?.body.contains("scope=offline_access") == (name == "microsoft"))
      }
    }
  }

  @Test("reach the reader through an account's endpoint, Firebase's for each of its accounts")
  func rules() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let refusal = #"{"error":"invalid_request","reason":"Invalid Token!"}"#
      bench.provider.answer("/token", with: .answer(401, body: refusal))
      var configuration = ProviderConfiguration(kind: .oauth(.discovered(try Issuer(bench.base)), OAuthClient(id: "h")))
      func outcome() async -> Outcome {
        await bench.outcome(
          of: configuration.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).tokens
        ).outcome
      }
      #expect(await outcome() == .misconfigured)
      configuration.apply(try #require(ProviderPreset.named("zoom")))
      #expect(await outcome() == .rejected)

      bench.provider.answer("/token", with: .answer(400, body: #"{"error":"token_revoked"}"#))
      #expect(await outcome() == .unclear)
      configuration.finalErrors = ["token_revoked"]
      #expect(await outcome() == .rejected)

      let blocked = #"{"error":{"code":403,"message":"No.","details":[{"reason":"API_KEY_SERVICE_BLOCKED"}]}}"#
      bench.provider.answer("/token", with: .answer(403, body: blocked))
      let project = FirebaseProject(apiKey: Secret("key-0123"), tokenEndpoint: bench.server.url("/token"))
      #expect(await bench.outcome(of: bench.endpoint(.firebase(project))).outcome == .misconfigured)
    }
  }
}

/// `etc/hearth/providers.md` against the presets and the suite.
@Suite("The table of providers") struct ProviderTableTests {
  private let text: String

  init() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    text = try String(contentsOf: URL(filePath: root + "/etc/hearth/providers.md"), encoding: .utf8)
  }

  /// The cells of each row, without the header.
  private var rows: [[String]] {
    text.split(separator: "\n").filter { $0.hasPrefix("| [`") }.map { row in
      row.split(separator: "|").map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }
  }

  @Test("has a row for each preset, in order, and no other")
  func names() {
    #expect(rows.map(\.[0]) == ProviderPreset.names.map { "[`\($0)`](#\($0))" })
    for row in rows { #expect(row.count == 6) }
  }

  @Test("tells each preset's type, what becomes of its refresh token, and how many answers the suite holds")
  func cells() throws {
    for (row, name) in zip(rows, ProviderPreset.names) {
      let preset = try #require(ProviderPreset.named(name))
      #expect(row[1] == preset.accountType.rawValue)
      switch preset.rotation {
      case .always: #expect(row[2].hasPrefix("rotates"), "\(name)")
      case .never: #expect(row[2] == "stays", "\(name)")
      case .lenient: #expect(row[2].hasPrefix("a new one"), "\(name)")
      case .asConfigured: #expect(row[2].hasPrefix("as the ") || row[2].contains("PKCE"), "\(name)")
      }
      if let endpoints = preset.endpoints { #expect((row[3] == "yes") == (endpoints.revocation != nil), "\(name)") }
      let answers = ProviderResponse.all.filter { $0.provider == name }
      let documented = answers.count { $0.evidence == .documented }
      #expect(row[5] == "\(documented) documented, \(answers.count - documented) seen", "\(name)")
    }
  }

  @Test("is followed by a section for each preset, with an account that names it and what it needs")
  func sections() throws {
    let sections = text.components(separatedBy: "\n## ").dropFirst()
    #expect(sections.map { String($0.prefix { $0 != "\n" }) } == ProviderPreset.names)
    for (section, name) in zip(sections, ProviderPreset.names) {
      let preset = try #require(ProviderPreset.named(name))
      #expect(section.contains("```toml\n[accounts."), "\(name)")
      #expect(section.contains(#"provider = "\#(name)""#) && section.contains(#"type = "\#(preset.accountType)""#))
      if case .ownIssuer = preset.place { #expect(section.contains("\nissuer = "), "\(name)") }
      if !preset.offlineScopes.isEmpty {
        #expect(preset.offlineScopes.allSatisfy { section.contains("\"\($0)\"") }, "\(name)")
      }
      #expect(
        (preset.redirect?.host == "localhost") == section.contains("\n- Redirect address: `http://localhost"), "\(name)"
      )
      #expect((preset.redirect == nil) == section.contains("you cannot sign in by browser"), "\(name)")
    }
  }
}

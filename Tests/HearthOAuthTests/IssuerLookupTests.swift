import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

/// OpenID Connect Discovery 1.0, section 2.
@Suite("The provider of a mail address") struct IssuerLookupTests {
  private static let path = "/.well-known/webfinger"
  private static let relation = "http://openid.net/specs/connect/1.0/issuer"
  /// Nothing leaves this machine.
  private static let proxies = ProxyEnvironment(["https_proxy": "http://127.0.0.1:1"])

  private func find(_ address: String, _ bench: ProviderBench) async -> Result<IssuerLookup.Finding?, RefreshFailure> {
    do throws(RefreshFailure) {
      return .success(
        try await IssuerLookup(address)?.find(
          sender: bench.sender, files: bench.files, timeout: .seconds(30), proxies: Self.proxies))
    } catch { return .failure(error) }
  }

  @Test("is the issuer that the address's domain names, or the preset with that issuer, and nothing else it links to")
  func named() async throws {
    for (links, finding) in [
      (#"{"rel":"\#(Self.relation)","href":"https://id.example.com"}"#, .issuer("https://id.example.com")),
      (#"{"rel":"\#(Self.relation)","href":"https://accounts.google.com"}"#, .preset("google")),
      (#"{"rel":"other","href":"https://id.example.com"}"#, nil),
      (#"{"rel":"\#(Self.relation)","href":"http://id.example.com"}"#, nil), ("", nil),
    ] as [(String, IssuerLookup.Finding?)] {
      try await ProviderBench.run { bench in
        bench.provider.grant(Self.path, #"{"subject":"x","links":[\#(links)]}"#)
        let host = "127.0.0.1:\(bench.server.port)"
        #expect(await find("ada@\(host)", bench) == .success(finding), "\(links)")
        let asked = bench.server.requests.map(\.target)
        let resource = "acct%3Aada%40127.0.0.1%3A\(bench.server.port)"
        let relation = "http%3A%2F%2Fopenid.net%2Fspecs%2Fconnect%2F1.0%2Fissuer"
        #expect(asked == ["\(Self.path)?resource=\(resource)&rel=\(relation)"])
      }
    }
  }

  @Test("is not known where its domain has no such document")
  func notNamed() async throws {
    try await ProviderBench.run { bench in
      bench.provider.answer(Self.path, with: .answer(404))
      #expect(await find("ada@127.0.0.1:\(bench.server.port)", bench) == .success(nil))
    }
  }

  @Test("is the preset of a known mail domain, also where that cannot be asked; another one's failure is told")
  func mailDomain() async throws {
    try await ProviderBench.run { bench in
      #expect(await find("ada@gmail.com", bench) == .success(.preset("google")))
      #expect(await find("ada@OUTLOOK.com", bench) == .success(.preset("microsoft")))
      guard case .failure(.unreachable(let message)) = await find("ada@example.com", bench) else {
        Issue.record("it was found")
        return
      }
      #expect(message.hasPrefix("Cannot look up the provider of example.com: no connection to "))
    }
  }

  @Test("no mail domain belongs to two presets")
  func unique() {
    let domains = ProviderPreset.all.flatMap(\.mailDomains)
    #expect(Set(domains).count == domains.count && domains.allSatisfy { $0 == $0.lowercased() })
  }
}

import CryptoExtras
import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("The keys of a provider (RFC 7517)", .serialized) struct PublicKeySetTests {
  private func accept(_ bench: SignInBench, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let failure = try await bench.failure(to: good)
    #expect(failure == nil, sourceLocation: sourceLocation)
  }

  private func good(_ claims: [String: JSONValue], _: BrowserSignIn) -> String { IDTokenMint.token(claims) }

  @Test("are requested once an hour, and an old set serves while there is no new one")
  func caching() async throws {
    try await SignInBench.run { bench in
      for _ in 0..<2 { try await accept(bench) }
      bench.bench.clock.advance(by: .seconds(3599))
      try await accept(bench)
      #expect(bench.keyRequests == 1)
      bench.bench.clock.advance(by: .seconds(1))
      bench.provider.answer("/keys", with: .answer(503))
      try await accept(bench)
      #expect(bench.keyRequests > 1)
    }
  }

  @Test("are requested once more for a key that is not known, and the new one is used")
  func rotation() async throws {
    for header in [["alg": "RS256", "kid": "2"], ["alg": "RS256"]] as [[String: JSONValue]] {
      try await SignInBench.run { bench in
        try await accept(bench)
        func new(_ claims: [String: JSONValue], _: BrowserSignIn) -> String {
          IDTokenMint.token(claims, header: header, by: .rsa(IDTokenMint.otherRSA))
        }
        let refused = try await bench.failure(to: new)
        #expect(refused != nil && bench.keyRequests == 2)
        bench.provider.grant("/keys", IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.otherRSA.publicKey, id: "2")]))
        let accepted = try await bench.failure(to: new)
        #expect(accepted == nil && bench.keyRequests == 3)
      }
    }
  }

  @Test("that have no name are tried for any token, and are requested once more where none of them fits")
  func unnamed() async throws {
    try await SignInBench.run { bench in
      bench.provider.grant("/keys", IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey, id: nil)]))
      try await accept(bench)
      #expect(bench.keyRequests == 1)
      // The provider has changed its only key.
      bench.provider.grant("/keys", IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.otherRSA.publicKey, id: nil)]))
      let accepted = try await bench.failure { claims, _ in
        IDTokenMint.token(claims, header: ["alg": "RS256", "kid": "2"], by: .rsa(IDTokenMint.otherRSA))
      }
      #expect(accepted == nil && bench.keyRequests == 2)
      #expect(
        try await bench.failure(to: good)?.message.contains("signature") == true, "the old one is not known any more")
    }
  }

  @Test("that are for something else, or are none, are passed over")
  func otherKeys() async throws {
    try await SignInBench.run { bench in
      let own = IDTokenMint.jwk(IDTokenMint.rsa.publicKey)
      let others: [JSONValue] = [
        "text", 1, [], ["kty": "RSA"], ["kty": "oct", "kid": "1", "k": "c2VjcmV0"],
        ["kty": "RSA", "kid": "1", "n": "AQAB", "e": "AQAB"],
        ["kty": "EC", "kid": "1", "crv": "P-256", "x": "AQ", "y": "AQ"],
        IDTokenMint.jwk(IDTokenMint.otherRSA.publicKey, ["use": "enc", "alg": "RSA-OAEP"]),
        IDTokenMint.jwk(IDTokenMint.otherRSA.publicKey, ["alg": "ES256"]),
      ]
      bench.provider.grant("/keys", IDTokenMint.keySet(others + [own]))
      try await accept(bench)
      // The provider's own key, but for encryption.
      bench.bench.clock.advance(by: .seconds(3600))
      bench.provider.grant("/keys", IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey, ["use": "enc"])]))
      #expect(try await bench.failure(to: good)?.message.contains("does not publish") == true)
    }
  }

  @Test("are found where a redirect leads, and a token that they have not signed is still refused")
  func moved() async throws {
    let other = ScriptedProvider()
    try await LoopbackServer.with({ other.reply(to: $0) }) { elsewhere in
      for (status, place) in [(301, "/moved"), (308, "moved?v=1#top"), (302, elsewhere.url("/moved").description)] {
        try await SignInBench.run { bench in
          let keys = IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey)])
          bench.provider.grant("/moved", keys)
          other.grant("/moved", keys)
          bench.provider.answer("/keys", with: .answer(status, headers: [("Location", place)]))
          try await accept(bench)
          let forged = try await bench.failure { claims, _ in
            IDTokenMint.token(claims, by: .rsa(IDTokenMint.otherRSA))
          }
          #expect(forged?.message.contains("signature") == true)
        }
      }
      #expect(elsewhere.requests.allSatisfy { $0.method == "GET" && $0.body.isEmpty })
    }
  }

  @Test("are there before the code is spent, and a sentence says where they are not")
  func absent() async throws {
    let html = String(repeating: "<p>", count: (1 << 20) / 3 + 1)
    for (reply, told, isUnavailable) in [
      (.answer(503), "HTTP 503 from", true), (.answer(404), "HTTP 404 from", false),
      (.answer(302, headers: [("Location", "http://id.example.com/keys")]), "HTTP 302 from", true),
      (.answer(200, body: html), "more than 1 MiB from", false),
      (.answer(200, body: "<html>"), "a web page from", true),
      (.answer(200, body: #"{"keys":"none"}"#), "an invalid key set from", true),
      (.close, "no response from", true),
    ] as [(LoopbackServer.Reply, String, Bool)] {
      try await SignInBench.run { bench in
        bench.provider.answer("/keys", with: reply)
        let failure = try #require(try await bench.failure(to: good))
        #expect(failure.message.contains(told), "\(failure.message)")
        #expect(failure.isUnavailable == isUnavailable)
        #expect(bench.requests.isEmpty, "the code was sent")
      }
    }
  }
}

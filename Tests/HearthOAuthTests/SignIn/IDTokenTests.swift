import Crypto
import CryptoExtras
import FoundationEssentials
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthOAuth

/// OpenID Connect Core, section 3.1.3.7.
@Suite("ID tokens of a sign-in", .serialized) struct IDTokenTests {
  /// A token that differs from a good one in one thing, and what is said of it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var offers = ""
    var secret: String?
    let make: @Sendable (_ claims: [String: JSONValue], _ now: Int64) -> String?
    /// After "The ID token from …".
    let told: String

    static func claims(
      _ name: String, _ told: String, _ change: @escaping @Sendable (inout [String: JSONValue], Int64) -> Void
    ) -> Fault {
      Fault(
        testDescription: name,
        make: { claims, now in
          var claims = claims
          change(&claims, now)
          return IDTokenMint.token(claims)
        }, told: told)
    }

    static func header(
      _ name: String, _ header: [String: JSONValue], by signer: IDTokenMint.Signer = .rsa(IDTokenMint.rsa),
      secret: String? = nil, _ told: String
    ) -> Fault {
      Fault(
        testDescription: name, secret: secret,
        make: { claims, _ in IDTokenMint.token(claims, header: header, by: signer) }, told: told)
    }

    static func raw(_ name: String, _ text: String?, _ told: String) -> Fault {
      Fault(testDescription: name, make: { _, _ in text }, told: told)
    }
  }

  static let claims = [
    Fault.claims("another issuer", "is not from the configured issuer (iss)") { claims, _ in
      claims["iss"] = "https://evil.example.com"
    },
    .claims("no issuer", "is not from the configured issuer (iss)") { claims, _ in claims["iss"] = nil },
    .claims("no user", "does not name a user (sub)") { claims, _ in claims["sub"] = nil },
    .claims("a user who is no whole number", "does not name a user (sub)") { claims, _ in claims["sub"] = .number(35.5)
    },
    .claims("a user who is true", "does not name a user (sub)") { claims, _ in claims["sub"] = .bool(true) },
    .claims("a user with too long a name", "names a user with an ID of more than 255 bytes (sub)") { claims, _ in
      claims["sub"] = .string(String(repeating: "a", count: 256))
    },
    .claims("another client", "is for another client (aud)") { claims, _ in claims["aud"] = "other" },
    .claims("other clients", "is for another client (aud)") { claims, _ in claims["aud"] = ["other", "third"] },
    .claims("no audience", "is for another client (aud)") { claims, _ in claims["aud"] = nil },
    .claims("several audiences and no party", "was issued to another client (azp)") { claims, _ in
      claims["aud"] = ["hearth app", "other"]
    },
    .claims("another party", "was issued to another client (azp)") { claims, _ in claims["azp"] = "other" },
    .claims("a party that is none", "was issued to another client (azp)") { claims, _ in claims["azp"] = ["hearth app"]
    },
    .claims("an audience that is none beside the client", "was issued to another client (azp)") { claims, _ in
      claims["aud"] = ["hearth app", [:]]
    },
    .claims("another issuer's name as an audience", "was issued to another client (azp)") { claims, _ in
      claims["aud"] = ["hearth app", "https://id.example.com"]
    },
    .claims("expired", "has expired, according to this machine's clock, which may be wrong (exp)") { claims, now in
      claims["exp"] = .integer(now - 60)
    },
    .claims("no expiry", "does not say when it was issued or when it expires (iat, exp)") { claims, _ in
      claims["exp"] = nil
    },
    .claims("an expiry that is a word", "does not say when it was issued or when it expires (iat, exp)") { claims, _ in
      claims["exp"] = "soon"
    },
    .claims("an expiry without an end", "does not say when it was issued or when it expires (iat, exp)") { claims, _ in
      claims["exp"] = "inf"
    },
    .claims("no time of issue", "does not say when it was issued or when it expires (iat, exp)") { claims, _ in
      claims["iat"] = nil
    },
    .claims(
      "issued in the future",
      "was issued in the future, according to this machine's clock, which may be wrong "
        + "(iat)"
    ) {
      claims, now in
      claims["iat"] = .integer(now + 60)
    },
    .claims(
      "not valid yet",
      "is not valid yet, according to this machine's clock, which may be "
        + "wrong (nbf)"
    ) { claims, now in
      claims["nbf"] = .integer(now + 61)
    },
    .claims("valid from a word on", "is not valid yet, according to this machine's clock, which may be wrong (nbf)") {
      claims, _ in
      claims["nbf"] = "tomorrow"
    },
    .claims("another nonce", "is not from this sign-in (nonce)") { claims, _ in claims["nonce"] = "another" },
    .claims("no nonce", "is not from this sign-in (nonce)") { claims, _ in claims["nonce"] = nil },
    .claims("a nonce that is none", "is not from this sign-in (nonce)") { claims, _ in claims["nonce"] = 1 },
    .claims("another access token's hash", "belongs to another access token (at_hash)") { claims, _ in
      claims["at_hash"] = .string(IDTokenClaims.hash(of: Secret("another"), by: "RS256"))
    },
    .claims("a hash that is none", "belongs to another access token (at_hash)") { claims, _ in
      claims["at_hash"] = ""
    },
  ]

  /// As an attacker makes it who knows the public key alone.
  private static let publicKey = IDTokenMint.rsa.publicKey.pemRepresentation

  static let headers = [
    Fault.header("alg none", ["alg": "none"], by: .nobody, "is not signed (alg none)"),
    .header("alg None", ["alg": "None", "kid": "1"], by: .nobody, "is not signed (alg none)"),
    .header("no alg", ["kid": "1"], "cannot be read"),
    .header(
      "the public key as the secret, at a client without one", ["alg": "HS256", "kid": "1"], by: .secret(publicKey),
      "is signed with a secret (HS256) that this client does not have"),
    .header(
      "the public key as the secret", ["alg": "HS256", "kid": "1"], by: .secret(publicKey), secret: "s3cret-word",
      "has an invalid signature"),
    .header(
      "another secret", ["alg": "HS256"], by: .secret("s3cret"), secret: "s3cret-word",
      "has an invalid signature"),
    .header(
      "another key by the same name", ["alg": "RS256", "kid": "1"], by: .rsa(IDTokenMint.otherRSA),
      "has an invalid signature"),
    .header(
      "another key without a name", ["alg": "RS256"], by: .rsa(IDTokenMint.otherRSA),
      "has an invalid signature"),
    .header("no signature", ["alg": "RS256", "kid": "1"], by: .nobody, "has an invalid signature"),
    .header(
      "an unknown key", ["alg": "RS256", "kid": "2"], "is signed with a key that the provider does not publish"),
    .header(
      "an RSA key for an elliptic curve", ["alg": "ES256", "kid": "1"], by: .p256(IDTokenMint.p256),
      "is signed with a key that the provider does not publish"),
    .header(
      "an unknown algorithm", ["alg": "XS256", "kid": "1"],
      "is signed with an algorithm that Hearth does not accept (alg XS256)"),
    .header(
      "an algorithm that is a token", ["alg": "eyJhbGciOiJSUzI1NiJ9", "kid": "1"],
      "is signed with an algorithm that Hearth does not accept (alg)"),
    .header(
      "something critical", ["alg": "RS256", "kid": "1", "crit": ["b64"], "b64": 1],
      "has a header that Hearth does not understand (crit)"),
  ]

  static let texts = [
    Fault.raw("none at all", nil, "is missing, although it was requested (scope openid)"),
    .raw("no JWT", "opaque", "cannot be read"), .raw("empty parts", "..", "cannot be read"),
    .raw("two parts", "eyJhbGciOiJub25lIn0.e30", "cannot be read"),
    .raw("claims that are a list", "eyJhbGciOiJSUzI1NiJ9.W10.c2ln", "cannot be read"),
    .raw("no base64", "eyJhbGciOiJSUzI1NiJ9.e30.%%%", "cannot be read"),
    .raw("encrypted", "eyJhbGciOiJSU0EifQ.a.b.c.d", "is encrypted, which Hearth cannot read"),
  ]

  @Test(
    "one that is not as it has to be is not accepted, and a sentence says why",
    arguments: [claims, headers, texts].flatMap(\.self))
  func fault(_ fault: Fault) async throws {
    try await SignInBench.run(secret: fault.secret) { bench in
      let made = Mutex("")
      let failure = try await bench.failure { claims, _ in
        let token = fault.make(claims, bench.now)
        made.withLock { $0 = token ?? "" }
        return token
      }
      guard case .unusable(let response, let message)? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(
        message == "The ID token from \(bench.base) \(fault.told), so the sign-in was not accepted. Sign in again.")
      #expect(response.refreshToken?.secret == Secret("new-refresh"), "the session has it revoked")
      #expect(response.origin == bench.origin && response.origins == [bench.origin])
      #expect(response.subject == nil, "nobody believes whose it is")
      for part in made.withLock({ $0 }).split(separator: ".") where part.count > 8 {
        #expect(failure?.message.contains(part) != true)
      }
    }
  }

  // MARK: - What is accepted

  /// A way of signing that is accepted.
  struct Way: Sendable, CustomTestStringConvertible {
    let algorithm: String
    var key = "1"
    var keys: [JSONValue] = [IDTokenMint.jwk(IDTokenMint.rsa.publicKey)]
    var signer = IDTokenMint.Signer.rsa(IDTokenMint.rsa)
    var secret: String?
    var testDescription: String { algorithm }
  }

  static let ways =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map { Way(algorithm: $0) } + [
      Way(
        algorithm: "ES256", key: "p",
        keys: [IDTokenMint.jwk("P-256", IDTokenMint.p256.publicKey.x963Representation, id: "p")],
        signer: .p256(IDTokenMint.p256)),
      Way(
        algorithm: "ES384", key: "p",
        keys: [IDTokenMint.jwk("P-384", IDTokenMint.p384.publicKey.x963Representation, id: "p")],
        signer: .p384(IDTokenMint.p384)),
      Way(
        algorithm: "ES512", key: "p",
        keys: [IDTokenMint.jwk("P-521", IDTokenMint.p521.publicKey.x963Representation, id: "p")],
        signer: .p521(IDTokenMint.p521)),
      Way(algorithm: "EdDSA", key: "ed", keys: [IDTokenMint.ed25519JWK], signer: .ed25519(IDTokenMint.ed25519)),
      Way(algorithm: "Ed25519", key: "ed", keys: [IDTokenMint.ed25519JWK], signer: .ed25519(IDTokenMint.ed25519)),
      Way(algorithm: "HS256", keys: [], signer: .secret("s3cret-word"), secret: "s3cret-word"),
    ]

  @Test(
    "one that is signed as the provider publishes it names the user, with the hash of the access token", arguments: ways
  )
  func accepted(_ way: Way) async throws {
    try await SignInBench.run(secret: way.secret) { bench in
      bench.provider.grant("/keys", IDTokenMint.keySet(way.keys))
      let signIn = try await bench.begin()
      var claims = bench.claims(nonce: signIn.nonce)
      claims["at_hash"] = .string(IDTokenClaims.hash(of: Secret("new-access"), by: way.algorithm))
      let token = IDTokenMint.token(
        claims, header: ["alg": .string(way.algorithm), "kid": .string(way.key)], by: way.signer)
      bench.grant(token)
      let response = try await bench.redeem(signIn)
      #expect(response.subject == Subject(issuer: bench.base, id: "2482"))
      #expect(response.idToken?.secret == Secret(token))
    }
  }

  @Test("the hash of the access token is that of the example in OpenID Connect Core, appendix A.3")
  func hash() {
    #expect(
      IDTokenClaims.hash(of: Secret("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"), by: "RS256")
        == "77QmUPtjPfzWtF2AnpK9RQ")
  }

  @Test("what may differ does: several audiences with their party, a minute between the clocks, Google's short name")
  func latitude() async throws {
    let changes: [@Sendable (inout [String: JSONValue], Int64) -> Void] = [
      { claims, _ in claims.merge(["aud": ["other", "hearth app"], "azp": "hearth app"]) { $1 } },
      { claims, now in claims["exp"] = .integer(now - 59) }, { claims, now in claims["iat"] = .integer(now + 59) },
      { claims, now in claims["nbf"] = .integer(now + 60) }, { claims, _ in claims["nbf"] = 0 },
      { claims, now in claims["exp"] = .number(Double(now) + 0.5) },
    ]
    for change in changes {
      try await SignInBench.run { bench in
        let failure = try await bench.failure { claims, _ in
          var claims = claims
          change(&claims, bench.now)
          return IDTokenMint.token(claims)
        }
        #expect(failure == nil)
      }
    }
    let google = IDTokenClaims(
      issuer: IssuerName("https://accounts.google.com"), client: "c", nonce: nil, isNonceRequired: true,
      accessToken: Secret("a"), now: Timestamp(milliseconds: 0))
    let token = IDTokenMint.token(["iss": "accounts.google.com", "sub": "1", "aud": "c", "iat": 0, "exp": 1])
    #expect(throws: Never.self) { try google.check(try IDToken(Secret(token))) }
  }

  @Test("where max_age is asked for, the token says that the person was asked since then (rule 11)")
  func maximumAge() async throws {
    let cases: [(JSONValue?, String?)] = [
      (nil, "does not say when you signed in, though max_age is set (auth_time)"),
      ("soon", "does not say when you signed in, though max_age is set (auth_time)"),
      (361, "says that you signed in longer ago than max_age allows (auth_time)"),
      (360, nil), (0, nil),
    ]
    for (ago, told) in cases {
      try await SignInBench.run(configured: { $0.authorizationParameters = ["max_age": "300"] }) { bench in
        let failure = try await bench.failure { claims, _ in
          var claims = claims
          if case .integer(let seconds)? = ago { claims["auth_time"] = .integer(bench.now - seconds) }
          if case .string? = ago { claims["auth_time"] = ago }
          return IDTokenMint.token(claims)
        }
        #expect(
          failure?.message
            == told.map { "The ID token from \(bench.base) \($0), so the sign-in was not accepted. Sign in again." })
      }
    }
    try await SignInBench.run { bench in
      let failure = try await bench.failure { claims, _ in IDTokenMint.token(claims) }
      #expect(failure == nil, "nobody asked for it")
    }
  }

  @Test("times are taken by the provider's clock, which its Date tells")
  func skew() async throws {
    try await SignInBench.run { bench in
      // This machine's clock is a day behind.
      let (signIn, ahead) = (try await bench.begin(), Int64(86_400))
      var claims = bench.claims(nonce: signIn.nonce)
      claims.merge(["iat": .integer(bench.now + ahead), "exp": .integer(bench.now + ahead + 300)]) { $1 }
      let token = IDTokenMint.token(claims)
      bench.grant(token, headers: [("Date", "Sun, 22 Nov 2026 10:00:00 GMT")])
      #expect(try await bench.redeem(signIn).subject?.id == "2482")
      bench.grant(token, headers: [("Date", "Sun, 22 Nov 2026 10:06:00 GMT")])
      #expect(await bench.failure { try await bench.redeem(signIn) }?.message.contains("has expired") == true)
    }
  }

  @Test("a time that is wrong is said to be so by the clock that was used, the provider's only if it has told its time")
  func clocks() async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      let date = [("Date", "Sat, 21 Nov 2026 10:00:00 GMT")]
      for (change, claim) in [
        (["iat": .integer(bench.now + 3943), "exp": .integer(bench.now + 7543)], "(iat)"),
        (["nbf": .integer(bench.now + 3943)], "(nbf)"), (["exp": .integer(bench.now - 3943)], "(exp)"),
      ] as [([String: JSONValue], String)] {
        let token = IDTokenMint.token(bench.claims(nonce: signIn.nonce).merging(change) { $1 })
        bench.grant(token)
        let own = try #require(await bench.failure { try await bench.redeem(signIn) }).message
        #expect(own.contains(", according to this machine's clock, which may be wrong \(claim)"), "\(own)")
        bench.grant(token, headers: date)
        let told = try #require(await bench.failure { try await bench.redeem(signIn) }).message
        #expect(told.contains(", according to the provider's own clock \(claim)"), "\(told)")
      }
    }
  }

  @Test("Microsoft's tenants are issuers of the issuer that stands for all of them, and nobody else is")
  func tenants() async throws {
    for (tenant, isAccepted) in [("72f988bf-86f1-41af-91ab-2d7cd011db47", true), ("evil", false)] {
      try await SignInBench.run(issuer: "/common/v2.0") { bench in
        bench.provider.grant(
          "/common/v2.0/.well-known/openid-configuration",
          """
          {"issuer":"\(bench.base)/{tenantid}/v2.0","token_endpoint":"\(bench.base)/token",
           "authorization_endpoint":"\(bench.base)/authorize","jwks_uri":"\(bench.base)/keys"}
          """)
        let issuer = "\(bench.base)/\(tenant)/v2.0"
        let signIn = try await bench.begin()
        #expect(signIn.issuer == BrowserSignIn.IssuerCheck.none)
        var claims = bench.claims(nonce: signIn.nonce)
        claims["iss"] = .string(issuer)
        bench.grant(IDTokenMint.token(claims))
        if isAccepted {
          #expect(try await bench.redeem(signIn).subject == Subject(issuer: issuer, id: "2482"))
        } else {
          #expect(await bench.failure { try await bench.redeem(signIn) }?.message.contains("(iss)") == true)
        }
      }
    }
  }

  @Test(
    "a provider whose endpoints are configured publishes no keys: its claims are checked, and a nonce that is there")
  func named() async throws {
    let named: (LoopbackServer) -> ProviderEndpoints = {
      ProviderEndpoints(token: $0.url("/token"), authorization: $0.url("/authorize"))
    }
    for (change, told) in [
      ([:], nil), (["nonce": "another"], "(nonce)"), (["aud": "other"], "(aud)"), (["exp": 1], "(exp)"),
    ] as [([String: JSONValue], String?)] {
      try await SignInBench.run(named: named) { bench in
        let failure = try await bench.failure { claims, _ in
          IDTokenMint.token(claims.merging(change) { $1 }, by: .rsa(IDTokenMint.otherRSA))
        }
        #expect(told == nil ? failure == nil : failure?.message.contains(told ?? "") == true)
        // LinkedIn's have none.
        for none in ["", .null] as [JSONValue] {
          let empty = try await bench.failure { claims, _ in IDTokenMint.token(claims.merging(["nonce": none]) { $1 }) }
          #expect(empty == nil)
        }
        let without = try await bench.failure { claims, _ in IDTokenMint.token(claims.filter { $0.key != "nonce" }) }
        #expect(without == nil)
        let unsigned = try await bench.failure { claims, _ in
          IDTokenMint.token(claims, header: ["alg": "none"], by: .nobody)
        }
        #expect(unsigned?.message.contains("(alg none)") == true)
        #expect(try await bench.failure { _, _ in nil } == nil)
        #expect(bench.keyRequests == 0)
      }
    }
  }
}

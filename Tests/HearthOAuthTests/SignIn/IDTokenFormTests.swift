import HearthCore
import Testing

@testable import HearthOAuth

/// What is right in another form than OpenID Connect Core, section 2, has it, beside what is not.
@Suite("ID tokens in another form", .serialized) struct IDTokenFormTests {
  /// A claim in another form than the usual one.
  struct Form: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Which server writes it, if that is known.
    var source = ""
    var user = "2482"
    let change: @Sendable (inout [String: JSONValue], _ now: Int64) -> Void

    init(
      _ name: String, _ source: String = "", user: String = "2482",
      _ change: @escaping @Sendable (inout [String: JSONValue], Int64) -> Void
    ) {
      (testDescription, self.source, self.user, self.change) = (name, source, user, change)
    }
  }

  static let forms = [
    Form("a user who is a number", "https://github.com/tymondesigns/jwt-auth/issues/1186", user: "35") { claims, _ in
      claims["sub"] = 35
    },
    Form("a user who is a large number", user: "9223372036854775807") { claims, _ in claims["sub"] = .integer(.max) },
    Form("a list of one audience", "https://github.com/puiterwijk/flask-oidc/pull/66") { claims, _ in
      claims["aud"] = ["hearth app"]
    },
    Form("the client twice") { claims, _ in claims["aud"] = ["hearth app", "hearth app"] },
    Form("one audience and its party") { claims, _ in claims["azp"] = "hearth app" },
    Form(
      "the issuer as an audience", "https://docs.oracle.com/en/cloud/paas/identity-cloud/rest-api/IdentityToken.html"
    ) { claims, _ in claims["aud"] = [claims["iss"] ?? .null, "hearth app"] },
    Form("times with a fraction", "https://github.com/panva/openid-client/issues/263") { claims, now in
      claims["iat"] = .number(Double(now) + 0.25)
      claims["exp"] = .number(Double(now) + 300.75)
      claims["nbf"] = .number(Double(now) - 0.5)
    },
    Form(
      "times as text", "https://github.com/aspnet-contrib/AspNet.Security.OpenIdConnect.Server/issues/176"
    ) { claims, now in
      let texts = ["iat": "\(now)", "exp": "\(now + 300).5", "nbf": "1.7e9", "auth_time": "\(now)"]
      claims.merge(texts.mapValues { .string($0) }) { $1 }
    },
    Form("null for what is missing", "https://github.com/goauthentik/authentik/issues/3739") { claims, _ in
      for name in ["azp", "nbf", "at_hash", "c_hash", "auth_time", "acr"] { claims[name] = .null }
    },
    Form("booleans as text, as Apple's", "https://github.com/a-tokyo/apple-signin-auth/pull/79") { claims, _ in
      claims["email_verified"] = "true"
    },
  ]

  @Test("a claim that is right in another form is accepted", arguments: forms)
  func otherForm(_ form: Form) async throws {
    try await SignInBench.run { bench in
      let signIn = try await bench.begin()
      var claims = bench.claims(nonce: signIn.nonce)
      form.change(&claims, bench.now)
      bench.grant(IDTokenMint.token(claims))
      #expect(try await bench.redeem(signIn).subject == Subject(issuer: bench.base, id: form.user))
    }
  }

  @Test("a client that is a number is the audience and the party that is that number")
  func numericClient() {
    let checks = IDTokenClaims(
      issuer: nil, client: "3", nonce: nil, isNonceRequired: false, accessToken: Secret("a"),
      now: Timestamp(milliseconds: 0))
    func check(_ claims: [String: JSONValue]) throws {
      let usual: [String: JSONValue] = ["sub": "1", "iat": 0, "exp": 1]
      try checks.check(try IDToken(Secret(IDTokenMint.token(usual.merging(claims) { $1 }))))
    }
    #expect(throws: Never.self) { try check(["aud": 3]) }
    #expect(throws: Never.self) { try check(["aud": [4, 3], "azp": 3]) }
    #expect(throws: Reason("is for another client (aud)")) { try check(["aud": 4]) }
    #expect(throws: Reason("was issued to another client (azp)")) { try check(["aud": 3, "azp": 4]) }
    #expect(throws: Reason("was issued to another client (azp)")) { try check(["aud": [3, 4]]) }
  }

  @Test("an audience that the account asks for needs no party, others still do", arguments: ["audience", "resource"])
  func askedAudience(_ name: String) async throws {
    let (asked, client): (JSONValue, JSONValue) = ("https://api.example.com", "hearth app")
    let cases: [([String: JSONValue], String?)] = [
      (["aud": [client, asked]], nil), (["aud": [asked, client]], nil),
      (["aud": [asked, client], "azp": client], nil),
      // Google's cross-client identity (https://github.com/openid/AppAuth-iOS/issues/418).
      (["aud": asked, "azp": client], nil),
      (["aud": asked], "is for another client (aud)"),
      (["aud": asked, "azp": "other"], "is for another client (aud)"),
      (["aud": [client, asked], "azp": "other"], "was issued to another client (azp)"),
      (["aud": [client, asked], "azp": asked], "was issued to another client (azp)"),
      (["aud": [client, asked, "other"]], "was issued to another client (azp)"),
      (["aud": [client, "https://api.example.com/"]], "was issued to another client (azp)"),
    ]
    for isAuthorization in [false, true] {
      let parameters = [name: "https://api.example.com"]
      func configure(_ account: inout ProviderConfiguration) {
        account.tokenParameters = isAuthorization ? [:] : parameters
        account.authorizationParameters = isAuthorization ? parameters : [:]
      }
      try await SignInBench.run(configured: configure) { bench in
        for (change, told) in cases {
          let failure = try await bench.failure { claims, _ in IDTokenMint.token(claims.merging(change) { $1 }) }
          #expect(told == nil ? failure == nil : failure?.message.contains(told ?? "") == true, "\(change)")
        }
      }
    }
  }

  @Test("an issuer without a document of its own is signed in at by its endpoints, and is the user's issuer")
  func namedEndpoints() async throws {
    let issuer = "https://identity.oraclecloud.com/"
    try await SignInBench.run(named: {
      ProviderEndpoints(token: $0.url("/token"), authorization: $0.url("/authorize"))
    }) { bench in
      let signIn = try await bench.begin()
      var claims = bench.claims(nonce: signIn.nonce)
      claims.merge(["iss": .string(issuer), "aud": [.string(issuer), "hearth app"]]) { $1 }
      bench.grant(IDTokenMint.token(claims))
      #expect(try await bench.redeem(signIn).subject == Subject(issuer: issuer, id: "2482"))
    }
  }
}

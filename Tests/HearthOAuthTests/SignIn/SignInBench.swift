import CryptoExtras
import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

/// A provider on loopback and an account that signs in there, for the length of a test.
struct SignInBench {
  static let clientID = "hearth app"
  static let redirectURI = "http://127.0.0.1:4321/callback"

  let bench: ProviderBench
  let endpoint: any SignInEndpoint

  var provider: ScriptedProvider { bench.provider }
  var base: String { bench.base }
  var origin: Origin { bench.server.url().origin }
  /// What was asked, without discovery and keys.
  var requests: [LoopbackServer.Request] { bench.requests.filter { $0.target != "/keys" } }
  var keyRequests: Int { bench.requests.count { $0.target == "/keys" } }

  /// `offers`: further fields of the discovery document. `issuer`: the path of the configured one.
  static func run(
    scopes: [String] = ["openid"], secret: String? = nil, offers: String = "", issuer: String = "",
    named: ((LoopbackServer) -> ProviderEndpoints)? = nil,
    configured: (inout ProviderConfiguration) throws -> Void = { _ in },
    _ body: (SignInBench) async throws -> Void
  ) async throws {
    try await ProviderBench.run { bench in
      let base = bench.base
      bench.provider.discover(
        at: bench.server,
        more: """
          ,"authorization_endpoint":"\(base)/authorize","device_authorization_endpoint":"\(base)/device",
          "jwks_uri":"\(base)/keys"\(offers)
          """)
      bench.provider.grant("/keys", IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey)]))
      if let secret { bench.files.put(secret, at: "/etc/secret") }
      let file = secret.map { _ in ClientFile(name: "client secret", path: "/etc/secret") }
      let client = OAuthClient(id: clientID, authentication: .automatic(file), scopes: scopes)
      let authority: ProviderConfiguration.Authority =
        if let named { .named(named(bench.server)) } else { .discovered(try Issuer(base + issuer)) }
      var configuration = ProviderConfiguration(kind: .oauth(authority, client))
      try configured(&configuration)
      try await body(
        SignInBench(
          bench: bench,
          endpoint: configuration.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).signIn))
    }
  }

  /// Another account, of a type that has no client.
  static func run(
    kind: @escaping (LoopbackServer) throws -> ProviderConfiguration.Kind,
    _ body: (SignInBench) async throws -> Void
  ) async throws {
    try await ProviderBench.run { bench in
      let configuration = ProviderConfiguration(kind: try kind(bench.server))
      try await body(
        SignInBench(
          bench: bench,
          endpoint: configuration.endpoints(sender: bench.sender, files: bench.files, timeout: .seconds(30)).signIn))
    }
  }

  /// Now, in seconds since 1970.
  var now: Int64 { bench.clock.now().milliseconds / 1000 }

  /// What the ID token of a sign-in says that is as it has to be.
  func claims(nonce: Secret?) -> [String: JSONValue] {
    var claims: [String: JSONValue] = [
      "iss": .string(base), "sub": "2482", "aud": .string(Self.clientID), "iat": .integer(now),
      "exp": .integer(now + 300),
    ]
    if let nonce { claims["nonce"] = .string(nonce.reveal()) }
    return claims
  }

  /// Has the token endpoint answer with a grant and this ID token.
  func grant(_ idToken: String?, accessToken: String = "new-access", headers: [(String, String)] = []) {
    let field = idToken.map { #","id_token":"\#($0)""# } ?? ""
    provider.answer(
      "/token",
      with: .answer(
        200, headers: [("Content-Type", "application/json")] + headers,
        body: #"{"access_token":"\#(accessToken)","refresh_token":"new-refresh","expires_in":60\#(field)}"#))
  }

  /// As in RFC 8628, section 3.2.
  static let deviceExample = """
    {"device_code":"GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS","user_code":"WDJB-MJHT",
     "verification_uri":"https://example.com/device",
     "verification_uri_complete":"https://example.com/device?user_code=WDJB-MJHT","expires_in":1800,"interval":5}
    """

  func beginDevice(_ body: String = deviceExample) async throws(SignInFailure) -> DeviceSignIn {
    provider.grant("/device", body)
    return try await endpoint.beginDevice()
  }

  func begin() async throws -> BrowserSignIn { try await endpoint.beginBrowser(redirectURI: Self.redirectURI) }

  func redeem(_ signIn: BrowserSignIn, code: String = "the-code-1234") async throws(SignInFailure) -> TokenResponse {
    try await endpoint.redeem(code: Secret(code), of: signIn)
  }

  /// Why the code of a new sign-in brings nothing; nil where it brings a grant. `idToken`: made of the right claims.
  func failure(
    to idToken: (_ claims: [String: JSONValue], _ signIn: BrowserSignIn) -> String?
  ) async throws -> SignInFailure? {
    let signIn = try await begin()
    grant(idToken(claims(nonce: signIn.nonce), signIn))
    return await failure { try await redeem(signIn) }
  }

  /// Why a step fails; nil where it does not.
  func failure<T>(_ step: () async throws -> T) async -> SignInFailure? {
    do {
      _ = try await step()
    } catch let error as SignInFailure {
      return error
    } catch {
      Issue.record(error)
    }
    return nil
  }
}

extension BrowserSignIn {
  /// The fields of the authorization request's query.
  var fields: [String: String] { Self.fields(of: authorizationURL) }

  static func fields(of url: String) -> [String: String] {
    let query = url.split(separator: "?", maxSplits: 1).last ?? ""
    return Dictionary(FormBody.decode(Array(query.utf8)) ?? []) { first, second in first + " twice: " + second }
  }
}

extension SignInFailure {
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }

  /// As a person is told it.
  var withoutGrant: SignInFailure {
    if case .unusable(_, let message) = self { .failed(message: message) } else { self }
  }
}

extension SignInFailure {
  /// The same, with this before its sentence.
  func said(by name: String) -> SignInFailure {
    switch self {
    case .notSupported(let text): .notSupported(message: "\(name) \(text)")
    case .unavailable(let text, let retryAfter): .unavailable(message: "\(name) \(text)", retryAfter: retryAfter)
    case .denied(let text): .denied(message: "\(name) \(text)")
    case .expired(let text): .expired(message: "\(name) \(text)")
    case .failed(let text): .failed(message: "\(name) \(text)")
    case .unusable(let response, let text): .unusable(response, message: "\(name) \(text)")
    case .refresh: self
    }
  }
}

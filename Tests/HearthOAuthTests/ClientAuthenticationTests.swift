import FoundationEssentials
import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Client authentication")
struct ClientAuthenticationTests {
  private static let secret = ClientFile(name: "client secret", path: "/etc/secret")
  private static let basic = "Basic " + Data("hearth:s3cret+word".utf8).base64EncodedString()

  /// What a provider sees of a client: the `Authorization` header, and the fields of the form that name it.
  struct Proof: Equatable {
    var authorization: String?
    var id: String?
    var secret: String?
  }

  private func proof(
    _ authentication: ClientAuthentication, offered: [String]? = nil
  ) async throws -> Proof {
    var seen = Proof()
    try await TransportBench.run { bench in
      bench.files.put("s3cret word", at: Self.secret.path)
      let endpoint = bench.endpoint(authentication) { $0.authenticationMethods = offered }
      #expect(await bench.failure(of: endpoint) == nil)
      let request = try #require(bench.server.requests.first)
      #expect(request.form["grant_type"] == "refresh_token" && request.form["refresh_token"] == "old-refresh")
      seen = Proof(
        authorization: request.headers.first(name: "Authorization"), id: request.form["client_id"],
        secret: request.form["client_secret"])
    }
    return seen
  }

  @Test(
    "auto sends the secret in the header, and in the body only where discovery offers nothing else",
    arguments: [
      (nil, false), ([], false), (["client_secret_basic"], false), (["client_secret_post"], true),
      (["client_secret_post", "client_secret_basic"], false), (["private_key_jwt"], false),
    ] as [([String]?, Bool)])
  func automatic(offered: [String]?, isInBody: Bool) async throws {
    let expected = isInBody ? Proof(id: "hearth", secret: "s3cret word") : Proof(authorization: Self.basic)
    #expect(try await proof(.automatic(Self.secret), offered: offered) == expected)
  }

  @Test("a secret's file may begin with a byte order mark and end with CR LF; what is no secret is sent nowhere")
  func otherEditors() async throws {
    try await TransportBench.run { bench in
      let endpoint = bench.endpoint(.basic(Self.secret))
      bench.files.put("\u{FEFF}s3cret word\r\n", at: Self.secret.path)
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.map { $0.headers.first(name: "Authorization") } == [Self.basic])
      bench.files.put("one\r\ntwo\r\n", at: Self.secret.path)
      #expect(
        await bench.failure(of: endpoint)
          == .misconfigured(
            message: "Cannot use the client secret in /etc/secret, because the file has more than one line, but must "
              + "contain only the secret."))
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test("the secret is found in Google's client JSON; JSON without one is said to be JSON, and sent nowhere")
  func clientJSON() async throws {
    try await TransportBench.run { bench in
      let endpoint = bench.endpoint(.basic(Self.secret))
      bench.files.put(
        #"{"installed":{"client_id":"hearth","client_secret":"s3cret word","redirect_uris":["http://localhost"]}}"#,
        at: Self.secret.path)
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.map { $0.headers.first(name: "Authorization") } == [Self.basic])
      bench.files.put(#"{"type":"external_account"}"#, at: Self.secret.path)
      #expect(
        await bench.failure(of: endpoint)
          == .misconfigured(
            message: "Cannot use the client secret in /etc/secret, because the file is JSON, not a secret, and "
              + "contains no client_secret."))
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test(
    "a secret that others may read or write is refused with what to do, and nothing is sent",
    arguments: [
      0o640, 0o604, 0o620, 0o602, 0o666,
    ] as [UInt32])
  func openSecret(mode: UInt32) async throws {
    let file = ClientFile(name: "client secret", path: "/etc/secret", isSecret: true)
    try await TransportBench.run { bench in
      bench.files.put("s3cret", at: file.path, mode: mode)
      #expect(
        await bench.failure(of: bench.endpoint(.post(file)))
          == .misconfigured(
            message: "Cannot use the client secret in a file with a path of 11 characters, because other users can "
              + "read or write the file. Run \"chmod go=\" on it."))
      #expect(bench.server.requests.isEmpty)
      for (mode, isOwn) in [(0o400, true), (0o440, false)] as [(UInt32, Bool)] {
        bench.files.put("s3cret", at: file.path, mode: mode, isOwn: isOwn)
        #expect(await bench.failure(of: bench.endpoint(.post(file))) == nil)
      }
    }
  }

  @Test("auto without a secret names the client in the body, whatever discovery offers")
  func publicClient() async throws {
    #expect(try await proof(.automatic(nil)) == Proof(id: "hearth"))
    #expect(try await proof(.automatic(nil), offered: ["client_secret_basic"]) == Proof(id: "hearth"))
  }

  @Test("what is configured counts, whatever discovery offers", arguments: [nil, ["client_secret_post"], ["none"]])
  func configured(offered: [String]?) async throws {
    #expect(try await proof(.none, offered: offered) == Proof(id: "hearth"))
    #expect(try await proof(.basic(Self.secret), offered: offered) == Proof(authorization: Self.basic))
    #expect(try await proof(.post(Self.secret), offered: offered) == Proof(id: "hearth", secret: "s3cret word"))
  }

  @Test("discovery's offers are read, and are what auto goes by")
  func discovered() async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(
        at: bench.server,
        more: """
          ,"token_endpoint_auth_methods_supported":["client_secret_post","private_key_jwt"],
          "token_endpoint_auth_signing_alg_values_supported":["ES256","PS256"],
          "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example.com/token"}
          """)
      let issuer = try Issuer(bench.base)
      let plain = try await Discovery(
        issuer: issuer, sender: bench.sender, files: bench.files, timeout: .seconds(30)
      ).endpoints()
      #expect(plain.authenticationMethods == ["client_secret_post", "private_key_jwt"])
      #expect(plain.signingAlgorithms == ["ES256", "PS256"])
      #expect(plain.token == bench.server.url("/token"))
      let aliased = try await Discovery(
        issuer: issuer, sender: bench.sender, files: bench.files, timeout: .seconds(30), prefersMutualTLS: true
      ).endpoints()
      #expect(aliased.token.description == "https://mtls.example.com/token")
      #expect(aliased.revocation == bench.server.url("/revoke"))
    }
  }

  @Test("token_parameters go with each token request, and to no other endpoint")
  func tokenParameters() async throws {
    try await TransportBench.run { bench in
      let parameters = ["audience": "https://api.example.com/", "resource": "urn:a b"]
      let endpoint = bench.endpoint(.none, parameters: parameters)
      #expect(await bench.failure(of: endpoint) == nil)
      _ = await endpoint.revoke(bench.credential)
      let robot = bench.endpoint(
        .clientCredentials(.named(ProviderEndpoints(token: bench.url())), OAuthClient(id: "robot")), HTTPRoute(),
        parameters)
      #expect(await bench.failure(of: robot) == nil)
      let firebase = FirebaseProject(apiKey: Secret("key-0123"), tokenEndpoint: bench.url())
      #expect(await bench.failure(of: bench.endpoint(.firebase(firebase), HTTPRoute(), parameters)) == nil)
      let backend = JSONBackend(refreshURL: bench.url("/json"))
      #expect(await bench.failure(of: bench.endpoint(.json(backend), HTTPRoute(), parameters)) == nil)
      for request in bench.server.requests {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/token":
          #expect(request.form["audience"] == "https://api.example.com/" && request.form["resource"] == "urn:a b")
        case "/json":
          let sent = JSONValue(parsing: Array(request.body.utf8))
          #expect(
            sent
              == .object([
                "refresh_token": .string("old-refresh"), "audience": .string("https://api.example.com/"),
                "resource": .string("urn:a b"),
              ]))
        default:
          #expect(request.form["token"] != nil && request.form["audience"] == nil)
        }
      }
      #expect(bench.server.requests.count == 5 || bench.server.requests.count == 6)
    }
  }
}

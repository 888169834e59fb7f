import FoundationEssentials
import HearthCore
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing
import X509

@testable import HearthOAuth

@Suite("Whom an account trusts, and what it shows")
struct HTTPRouteTests {
  private static func isUnreachable(_ failure: RefreshFailure?, _ words: String) -> Bool {
    if case .unreachable(let message)? = failure { message.contains(words) } else { false }
  }

  @Test(
    "a certificate out of its time is refused with the day, though its authority is trusted",
    arguments: [
      (-86_400.0 ... -3600.0, "a certificate in the server's chain expired on "),
      (3600.0...86_400.0, "is not valid before "),
    ])
  func outOfTime(_ validity: ClosedRange<Double>, _ words: String) async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity(validity: validity).serverTLS()) { bench in
      let failure = await bench.failure(of: bench.endpoint(route: try bench.route(authority)))
      #expect(Self.isUnreachable(failure, "TLS failed: "), "\(String(describing: failure))")
      #expect(Self.isUnreachable(failure, words) && Self.isUnreachable(failure, "this machine's clock"))
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("a server of an authority that the system does not know is not trusted, and with ca_file it is")
  func caFile() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let untrusted = await bench.failure(of: bench.endpoint())
      #expect(Self.isUnreachable(untrusted, "CERTIFICATE_VERIFY_FAILED"))
      #expect(Self.isUnreachable(untrusted, "is not from a trusted authority"))
      #expect(Self.isUnreachable(untrusted, "set the account's \"ca_file\""), "and what helps")
      #expect(bench.server.requests.isEmpty)
      let trusting = bench.endpoint(route: try bench.route(authority))
      #expect(await bench.failure(of: trusting) == nil)
    }
  }

  @Test("ca_file is trusted in place of the system's authorities, counts as it is now, and names are checked")
  func caFileAlone() async throws {
    let (authority, other) = (try TestAuthority.root(), try TestAuthority.root("other"))
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let endpoint = bench.endpoint(route: try bench.route(other))
      let untrusted = await bench.failure(of: endpoint)
      #expect(Self.isUnreachable(untrusted, "CERTIFICATE_VERIFY_FAILED"))
      bench.files.put(try authority.pem + other.pem, at: "/etc/ca.pem")
      // No server of a test has a certificate that the system knows.
      let plan = try await bench.route(authority, besides: other).plan(for: bench.url(), files: bench.files)
      #expect(
        plan.tls?.trustRoots
          == .certificates(try NIOSSLCertificate.fromPEMBytes(Array((authority.pem + other.pem).utf8))))
      #expect(plan.tls?.additionalTrustRoots.isEmpty == true && plan.tls?.minimumTLSVersion == .tlsv12)
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test("another's certificate is not taken, pinned or not", arguments: [false, true])
  func otherName(isPinned: Bool) async throws {
    let authority = try TestAuthority.root()
    let server = try authority.identity("id.example.com", addresses: [])
    try await TransportBench.run(tls: try server.serverTLS()) { bench in
      var route = try bench.route(authority)
      if isPinned { route.pins = [try server.pin] }
      for host in ["localhost", "127.0.0.1"] {
        let failure = await bench.failure(of: bench.endpoint(route: route, host: host))
        #expect(
          Self.isUnreachable(failure, "the server's certificate does not match its host name"),
          "\(String(describing: failure))")
      }
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("a ca_file may begin with a byte order mark and have lines that end with CR LF")
  func otherEditors() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let endpoint = bench.endpoint(route: try bench.route(authority))
      bench.files.put("\u{FEFF}" + (try authority.pem).replacing("\n", with: "\r\n"), at: "/etc/ca.pem")
      #expect(await bench.failure(of: endpoint) == nil)
    }
  }

  @Test("a ca_file that cannot be read or used is the configuration's, and nothing is sent")
  func badCAFile() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS()) { bench in
      let endpoint = bench.endpoint(route: try bench.route(authority))
      bench.files.put("nothing", at: "/etc/ca.pem")
      #expect(
        await bench.failure(of: endpoint)
          == .misconfigured(
            message: "Cannot use the ca_file /etc/ca.pem, because the file contains no PEM certificate."))
      bench.files.fail(.read, at: "/etc/ca.pem", with: .absent)
      #expect(
        await bench.failure(of: endpoint)
          == .misconfigured(message: "Cannot read the ca_file in /etc/ca.pem: no such file."))
      #expect(bench.server.connections == 0)
    }
  }

  /// A chain of three, and its keys from the server's own to the root's.
  private struct Chain {
    let root: TestAuthority
    let server: TestIdentity
    let pins: [CertificatePin]

    init() throws {
      root = try .root()
      let intermediate = try root.intermediate()
      server = try intermediate.identity()
      pins = [try server.pin, try intermediate.pin, try root.pin]
    }
  }

  @Test("a pin of the server, of an authority between or of the root will do", arguments: [0, 1, 2])
  func pinned(place: Int) async throws {
    let chain = try Chain()
    try await TransportBench.run(tls: try chain.server.serverTLS()) { bench in
      var route = try bench.route(chain.root)
      route.pins = [chain.pins[place], try TestAuthority.root("next").pin]
      #expect(await bench.failure(of: bench.endpoint(route: route)) == nil)
      #expect(await bench.failure(of: bench.endpoint(route: route, host: "localhost")) == nil)
      #expect(bench.server.requests.map { $0.form["refresh_token"] } == ["old-refresh", "old-refresh"])
      #expect(bench.server.requests.first?.headers["Host"] == ["127.0.0.1:\(bench.server.port)"])
    }
  }

  @Test("a chain without a pinned key gets nothing of the request, and both hashes are told")
  func mismatch() async throws {
    let chain = try Chain()
    try await TransportBench.run(tls: try chain.server.serverTLS()) { bench in
      var route = try bench.route(chain.root)
      let other = try TestAuthority.root("other").pin
      route.pins = [other]
      let message =
        "No connection to https://127.0.0.1:\(bench.server.port): the server's certificate chain contains none of the "
        + "keys in certificate_pins (\(other)), only \(chain.pins.map(\.description).joined(separator: ", "))."
      #expect(await bench.failure(of: bench.endpoint(route: route)) == .unreachable(message: message))
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("a pin does not stand for the authorities' word")
  func pinsAreBesides() async throws {
    let server = try TestAuthority.root().identity()
    try await TransportBench.run(tls: try server.serverTLS()) { bench in
      var route = HTTPRoute()
      route.pins = [try server.pin]
      let failure = await bench.failure(of: bench.endpoint(route: route))
      #expect(Self.isUnreachable(failure, "CERTIFICATE_VERIFY_FAILED"), "\(String(describing: failure))")
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("on a kept connection too each request is held to its own account's pins")
  func keptConnection() async throws {
    let chain = try Chain()
    try await TransportBench.run(tls: try chain.server.serverTLS(), connections: .kept, { _ in .answer(200) }) {
      bench in
      let api = HTTPAPIEndpoint(sender: bench.sender)
      let account = AccountName.sample
      let request = APIRequest(
        method: "POST", url: bench.url("/notes"), headers: [], body: Array("note".utf8), idempotencyKey: nil)
      func send() async -> ExchangeFailure? {
        do throws(ExchangeFailure) {
          _ = try await api.exchange(request, of: account, bearer: nil, timeout: .seconds(30))
          return nil
        } catch {
          return error
        }
      }
      guard case .notSent? = await send() else {
        Issue.record("the system's authorities vouch for it")
        return
      }
      var route = try bench.route(chain.root)
      route.pins = [chain.pins[1]]
      api.route(account, over: route, files: bench.files)
      for _ in 0..<2 { #expect(await send() == nil) }
      #expect(
        bench.server.requests.map(\.connection).count == 2 && Set(bench.server.requests.map(\.connection)).count == 1)
      route.pins = [try TestAuthority.root("other").pin]
      api.route(account, over: route, files: bench.files)
      guard case .notSent(let message)? = await send() else {
        Issue.record("it was sent")
        return
      }
      #expect(message.contains("contains none of the keys in certificate_pins"))
      #expect(bench.server.requests.map(\.body) == ["note", "note"])
    }
  }

  // MARK: - Client certificates (RFC 8705, section 2)

  private func identity(_ bench: TransportBench, _ identity: TestIdentity) throws -> HTTPRoute.Identity {
    HTTPRoute.Identity(
      certificate: bench.file("client certificate", try identity.pem, at: "/etc/client.pem"),
      key: bench.file("client key", identity.keyPEM, at: "/etc/client.key"))
  }

  @Test("a server that wants a certificate gets the client's, its identifier in the body and no secret")
  func mutualTLS() async throws {
    let (authority, clients) = (try TestAuthority.root(), try TestAuthority.root("clients"))
    let client = try clients.identity("hearth")
    try await TransportBench.run(tls: try authority.identity().serverTLS(clients: clients)) { bench in
      var route = try bench.route(authority)
      guard await bench.failure(of: bench.endpoint(.tls, route: route)) != nil else {
        Issue.record("the server wants no certificate")
        return
      }
      #expect(bench.server.requests.isEmpty)
      route.identity = try identity(bench, client)
      let endpoint = bench.endpoint(.tls, route: route)
      #expect(await bench.failure(of: endpoint) == nil)
      let request = try #require(bench.server.requests.first)
      #expect(request.form["client_id"] == "hearth" && request.form["client_secret"] == nil)
      #expect(!request.headers.contains(name: "Authorization"))
      route.pins = [try authority.pin]
      #expect(await bench.failure(of: bench.endpoint(.tls, route: route)) == nil)

      // A new certificate counts at once.
      _ = try identity(bench, try clients.identity("renewed"))
      #expect(await bench.failure(of: endpoint) == nil)
    }
  }

  @Test("a certificate and a key that do not belong together are the configuration's")
  func wrongPair() async throws {
    let authority = try TestAuthority.root()
    try await TransportBench.run(tls: try authority.identity().serverTLS(clients: authority)) { bench in
      var route = try bench.route(authority)
      route.identity = try identity(bench, try authority.identity("hearth"))
      let endpoint = bench.endpoint(.tls, route: route)
      bench.files.put(try authority.identity("other").keyPEM, at: "/etc/client.key")
      #expect(
        await bench.failure(of: endpoint)
          == .misconfigured(
            message: "The client key in /etc/client.key does not match the certificate /etc/client.pem."))
      bench.files.put("nothing", at: "/etc/client.key")
      guard case .misconfigured(let message)? = await bench.failure(of: endpoint) else {
        Issue.record("it is used")
        return
      }
      #expect(message.hasPrefix("Cannot use the client key in /etc/client.key. "))
      #expect(bench.server.connections == 0)
    }
  }

  @Test("discovery's mtls_endpoint_aliases are what a client with a certificate asks")
  func aliases() async throws {
    let authority = try TestAuthority.root()
    let provider = ScriptedProvider()
    try await TransportBench.run(
      tls: try authority.identity().serverTLS(clients: authority), { provider.reply(to: $0) }
    ) {
      bench in
      let base = "https://127.0.0.1:\(bench.server.port)"
      provider.grant(
        "/.well-known/openid-configuration",
        """
        {"issuer":"\(base)","token_endpoint":"\(base)/token",
         "mtls_endpoint_aliases":{"token_endpoint":"\(base)/mtls/token"}}
        """)
      provider.grant("/mtls/token")
      provider.answer("/token", with: .refused("invalid_client"))
      var route = try bench.route(authority)
      route.identity = try identity(bench, try authority.identity("hearth"))
      let client = OAuthClient(id: "hearth", authentication: .tls)
      #expect(await bench.failure(of: bench.endpoint(.oauth(.discovered(try Issuer(base)), client), route)) == nil)
    }
  }
}

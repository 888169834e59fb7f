import CryptoExtras
import FoundationEssentials
import HearthCore
import NIOSSL
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import HearthOAuth

@Suite("TLS")
struct TLSTests {
  /// A server that offers one thing less, or one thing more, than a good one.
  struct Server: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var chain = RSAChain()
    var change: @Sendable (inout TLSConfiguration) -> Void = { _ in }
    /// Words of the message.
    var refusal = "TLS failed: "
  }

  static let refused = [
    Server(testDescription: "TLS 1.0 and 1.1 alone") {
      $0.minimumTLSVersion = .tlsv1
      $0.maximumTLSVersion = .tlsv11
    },
    Server(testDescription: "an RSA key exchange, without forward secrecy") {
      $0.maximumTLSVersion = .tlsv12
      $0.cipherSuites = "RSA+AESGCM:RSA+AES"
    },
    Server(testDescription: "a handshake signed with SHA-1") {
      $0.maximumTLSVersion = .tlsv12
      $0.signingSignatureAlgorithms = [.rsaPkcs1Sha1]
    },
    Server(
      testDescription: "a certificate with an RSA key of 1024 bits", chain: RSAChain(server: .weak),
      refusal: "TLS failed: the server's certificate has an RSA key of 1024 bits, but 2048 are required"),
    Server(
      testDescription: "an authority with an RSA key of 1024 bits", chain: RSAChain(intermediate: .weak),
      refusal: "TLS failed: a CA certificate in the server's chain has an RSA key of 1024 bits"),
    Server(
      testDescription: "a root with an RSA key of 1024 bits", chain: RSAChain(root: .weak),
      refusal: "TLS failed: a CA certificate in the server's chain has an RSA key of 1024 bits"),
    Server(
      testDescription: "a certificate signed with SHA-1", chain: RSAChain(server: .signedWithSHA1),
      refusal: "TLS failed: the server's certificate is signed with SHA-1, which is too weak"),
    Server(
      testDescription: "an authority whose certificate is signed with SHA-1",
      chain: RSAChain(intermediate: .signedWithSHA1),
      refusal: "TLS failed: a CA certificate in the server's chain is signed with SHA-1"),
  ]

  @Test("a server that offers nothing better gets nothing of the request", arguments: refused)
  func refuses(server: Server) async throws {
    try await RSAChain.prepare()
    var tls = try server.chain.serverTLS()
    server.change(&tls)
    try await TransportBench.run(tls: tls) { bench in
      guard case .unreachable(let message)? = await bench.failure(of: bench.endpoint(route: try server.route(bench)))
      else {
        Issue.record("it was sent")
        return
      }
      #expect(message.contains(server.refusal), "\(message)")
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("what is refused of a provider is refused of an API, on connections that are kept")
  func refusesAPI() async throws {
    try await RSAChain.prepare()
    let server = Server(testDescription: "weak", chain: RSAChain(server: .weak))
    try await TransportBench.run(tls: try server.chain.serverTLS(), connections: .kept) { bench in
      let api = HTTPAPIEndpoint(sender: bench.sender)
      api.route(.sample, over: try server.route(bench), files: bench.files)
      let request = APIRequest(
        method: "GET", url: bench.url("/notes"), headers: [], body: [], idempotencyKey: nil)
      await #expect(throws: ExchangeFailure.self) {
        try await api.exchange(request, of: .sample, bearer: nil, timeout: .seconds(30))
      }
      #expect(bench.server.requests.isEmpty)
    }
  }

  static let accepted: [(Server, TLSVersion)] = [
    (Server(testDescription: "TLS 1.3, though 1.2 is offered too"), .tlsv13),
    (Server(testDescription: "TLS 1.2 alone") { $0.maximumTLSVersion = .tlsv12 }, .tlsv12),
    (
      Server(testDescription: "forward secrecy with CBC") {
        $0.maximumTLSVersion = .tlsv12
        $0.cipherSuites = "ECDHE+AES128:!AESGCM"
      }, .tlsv12
    ),
    (Server(testDescription: "a root that signs itself with SHA-1", chain: RSAChain(root: .signedWithSHA1)), .tlsv13),
  ]

  @Test("a good server is asked in the newest version that it speaks", arguments: accepted)
  func accepts(server: Server, version: TLSVersion) async throws {
    try await RSAChain.prepare()
    var tls = try server.chain.serverTLS()
    tls.minimumTLSVersion = .tlsv12
    server.change(&tls)
    try await TransportBench.run(tls: tls) { bench in
      let endpoint = bench.endpoint(route: try server.route(bench))
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.map(\.tlsVersion) == [version])
    }
  }
}

extension TLSTests.Server {
  fileprivate func route(_ bench: TransportBench) throws -> HTTPRoute {
    var route = HTTPRoute()
    route.authorities = bench.file("ca_file", try chain.rootPEM, at: "/etc/ca.pem")
    return route
  }
}

/// A server's certificate, one of an authority between and one of a root, all with RSA keys.
struct RSAChain: Sendable {
  enum Quality: Sendable {
    case good
    /// 1024 bits.
    case weak
    case signedWithSHA1
  }

  var server = Quality.good
  var intermediate = Quality.good
  var root = Quality.good

  /// Made once, since that takes long.
  private static let keys = Result { try (0..<3).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048) } }
  private static let weakKey = Result { try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)) }

  /// Makes the keys, so that the tests need not wait for them on threads that others share.
  static func prepare() async throws {
    try await inTurn { _ = (try keys.get(), try weakKey.get()) }
  }

  private func key(_ place: Int, _ quality: Quality) throws -> _RSA.Signing.PrivateKey {
    try quality == .weak ? Self.weakKey.get() : Self.keys.get()[place]
  }

  /// From the server's own to the root's.
  private func certificates() throws -> [Certificate] {
    let names = try ["localhost", "between", "root"].map { name in try DistinguishedName { CommonName(name) } }
    let qualities = [server, intermediate, root]
    return try (0..<3).map { place in
      let above = min(place + 1, 2)
      let issuerKey = try key(above, qualities[above])
      return try Certificate(
        version: .v3, serialNumber: Certificate.SerialNumber(),
        publicKey: Certificate.PublicKey(try key(place, qualities[place]).publicKey),
        notValidBefore: Date() - 3600, notValidAfter: Date() + 86_400, issuer: names[above], subject: names[place],
        signatureAlgorithm: qualities[place] == .signedWithSHA1 ? .sha1WithRSAEncryption : .sha256WithRSAEncryption,
        extensions: place == 0
          ? Certificate.Extensions {
            SubjectAlternativeNames([.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
          }
          : Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(keyCertSign: true))
          },
        issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }
  }

  var rootPEM: String { get throws { try certificates()[2].serializeAsPEM().pemString + "\n" } }

  func serverTLS() throws -> TLSConfiguration {
    let pem = try certificates().dropLast().map { try $0.serializeAsPEM().pemString + "\n" }.joined()
    return TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) },
      privateKey: .privateKey(
        try NIOSSLPrivateKey(bytes: Array(try key(0, server).pemRepresentation.utf8), format: .pem)))
  }
}

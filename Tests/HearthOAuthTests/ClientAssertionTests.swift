import Crypto
import CryptoExtras
import FoundationEssentials
import HearthCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Client assertions (RFC 7523)")
struct ClientAssertionTests {
  /// A key of the test's, as it is written into a file, and what verifies its signatures.
  struct Key: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let pem: String
    let algorithm: String
    let verify: @Sendable (_ signature: [UInt8], _ input: [UInt8]) -> Bool
  }

  private static let p256 = P256.Signing.PrivateKey()
  private static let otherP256 = P256.Signing.PrivateKey()
  private static let ed25519 = Curve25519.Signing.PrivateKey()
  private static let rsa: _RSA.Signing.PrivateKey? = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

  private static func pem(_ label: String, _ der: [UInt8]) -> String {
    var lines: [Substring] = []
    var rest = Data(der).base64EncodedString()[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(64))
      rest = rest.dropFirst(64)
    }
    return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
  }

  private static func es256(_ name: String, _ pem: String, _ key: P256.Signing.PrivateKey) -> Key {
    Key(testDescription: name, pem: pem, algorithm: "ES256") { [key = key.publicKey] signature, input in
      guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: input)
    }
  }

  private static func rsa(_ name: String, _ pem: String?, _ algorithm: String) -> Key {
    Key(testDescription: name, pem: pem ?? "", algorithm: algorithm) { [key = rsa?.publicKey] signature, input in
      key?.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: input),
        padding: algorithm == "PS256" ? .PSS : .insecurePKCS1v1_5) == true
    }
  }

  private static func eddsa(_ name: String, prefix: [UInt8], suffix: [UInt8] = [], _ algorithm: String) -> Key {
    let key = Array(ed25519.rawRepresentation)
    return Key(testDescription: name, pem: pem("PRIVATE KEY", prefix + key + suffix), algorithm: algorithm) {
      [key = ed25519.publicKey] signature, input in key.isValidSignature(signature, for: input)
    }
  }

  /// SEC1 as OpenSSL writes it, the curve's parameters first.
  private static let sec1 =
    pem("EC PARAMETERS", [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])
    + pem(
      "EC PRIVATE KEY",
      [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + Array(p256.rawRepresentation)
        + [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0xa1, 0x44, 0x03, 0x42, 0x00]
        + Array(p256.publicKey.x963Representation))

  private static let ed25519Key: [UInt8] = [0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
  /// RFC 8410, section 7: alone, and with the public key beside it.
  private static let v1: [UInt8] = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05] + ed25519Key
  private static let v2: [UInt8] = [0x30, 0x51, 0x02, 0x01, 0x01, 0x30, 0x05] + ed25519Key

  static let keys = [
    es256("EC, PKCS#8", p256.pemRepresentation, p256), es256("EC, SEC1", sec1, p256),
    rsa("RSA, PKCS#1", rsa?.pemRepresentation, "RS256"), rsa("RSA, PKCS#8", rsa?.pkcs8PEMRepresentation, "RS256"),
    rsa("RSA with PSS", rsa?.pemRepresentation, "PS256"),
    eddsa("Ed25519", prefix: v1, "EdDSA"), eddsa("Ed25519 by its newer name", prefix: v1, "Ed25519"),
    eddsa(
      "Ed25519 with its public key", prefix: v2,
      suffix: [0x81, 0x21, 0x00] + Array(ed25519.publicKey.rawRepresentation),
      "EdDSA"),
  ]

  /// A provider that checks assertions as RFC 7523, section 3 asks, and takes none twice.
  private final class Verifier: Sendable {
    let key: Mutex<Key>
    let audience = Mutex("")
    let now: @Sendable () -> Timestamp
    private let seen = Mutex<Set<String>>([])
    let headers = Mutex<[JSONValue]>([])

    init(_ key: Key, now: @escaping @Sendable () -> Timestamp) {
      self.key = Mutex(key)
      self.now = now
    }

    /// Why an assertion is refused; nil where it is taken.
    func fault(_ token: String?, issuer: String = "hearth", subject: String = "hearth", longest: Double = 3600)
      -> String?
    {
      let parts = (token ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      let decoded = parts.map { part in
        let standard = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined()
        return Array(Data(base64Encoded: standard + String(repeating: "=", count: (4 - part.count % 4) % 4)) ?? Data())
      }
      guard parts.count == 3, let header = JSONValue(parsing: decoded[0]), let claims = JSONValue(parsing: decoded[1])
      else { return "no JWT" }
      headers.withLock { $0.append(header) }
      let key = key.withLock { $0 }
      let now = Double(now().milliseconds) / 1000
      guard header["alg"]?.text == key.algorithm else { return "alg" }
      guard key.verify(decoded[2], Array("\(parts[0]).\(parts[1])".utf8)) else { return "signature" }
      guard claims["iss"]?.text == issuer, claims["sub"]?.text == subject else { return "iss or sub" }
      guard claims["aud"] == .string(audience.withLock { $0 }) else { return "aud" }
      guard let expiry = claims["exp"]?.asNumber, expiry > now, expiry <= now + longest else { return "exp" }
      guard let issued = claims["iat"]?.asNumber, issued <= now, issued > now - 60 else { return "iat" }
      guard let id = claims["jti"]?.text, id.count >= 20, seen.withLock({ $0.insert(id).inserted }) else {
        return "jti"
      }
      return nil
    }

    func reply(to request: LoopbackServer.Request) -> LoopbackServer.Reply {
      let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
      guard request.form["client_assertion_type"] == type, request.form["client_id"] == "hearth",
        request.form["client_secret"] == nil, !request.headers.contains(name: "Authorization")
      else { return .refused("invalid_request", status: 400) }
      return fault(request.form["client_assertion"]).map { .refused("invalid_client: " + $0) } ?? .granted
    }
  }

  private func run(
    _ key: Key = keys[0], _ body: (TransportBench, Verifier) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    let verifier = Verifier(key) { clock.now() }
    try await TransportBench.run(clock: clock, { verifier.reply(to: $0) }) { bench in
      verifier.audience.withLock { $0 = bench.url().description }
      try await body(bench, verifier)
    }
  }

  @Test("an assertion that a provider verifies, made anew for each request", arguments: keys)
  func verified(_ key: Key) async throws {
    try await run(key) { bench, _ in
      let file = bench.file("client key", key.pem)
      let endpoint = bench.endpoint(.assertion(ClientKey(file: file))) { $0.signingAlgorithms = [key.algorithm] }
      for _ in 0..<2 { #expect(await bench.failure(of: endpoint) == nil) }
      bench.clock.advance(by: .seconds(7200))
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.count == 3)
    }
  }

  @Test("a client key's file may begin with a byte order mark and have lines that end with CR LF")
  func otherEditors() async throws {
    let files = MemoryFileSystem(folders: ["/etc"], now: { .sample })
    files.put("\u{FEFF}" + Self.keys[0].pem.replacing("\n", with: "\r\n"), at: "/etc/key")
    let key = ClientKey(file: ClientFile(name: "client key", path: "/etc/key"))
    let now = ManualClock().now()
    let token = try await key.assertion(
      by: "hearth", about: "hearth", for: "a", in: nil, from: files, at: now
    ).reveal()
    let verifier = Verifier(Self.keys[0]) { now }
    verifier.audience.withLock { $0 = "a" }
    #expect(verifier.fault(token) == nil)
  }

  @Test("the provider of these tests takes no assertion twice, late, for another or with another's signature")
  func verifierBites() async throws {
    let clock = ManualClock()
    let files = MemoryFileSystem(folders: ["/etc"], now: { .sample })
    files.put(Self.keys[0].pem, at: "/etc/key")
    let key = ClientKey(file: ClientFile(name: "client key", path: "/etc/key"))
    let token = try await key.assertion(
      by: "hearth", about: "hearth", for: "a", in: nil, from: files, at: clock.now()
    ).reveal()
    func fault(of key: Key = Self.keys[0], audience: String = "a", at now: Timestamp = clock.now()) -> String? {
      let verifier = Verifier(key) { now }
      verifier.audience.withLock { $0 = audience }
      let first = verifier.fault(token)
      return first ?? verifier.fault(token)
    }
    #expect(fault() == "jti")
    #expect(fault(audience: "b") == "aud")
    #expect(fault(at: clock.now() + .seconds(301)) == "exp")
    #expect(fault(of: Self.es256("other", "", Self.otherP256)) == "signature")
  }

  @Test("without a word of discovery RSA signs with RS256; a provider that takes PS256 alone gets that")
  func rsaAlgorithms() async throws {
    try await run(Self.rsa("RSA", Self.rsa?.pemRepresentation, "RS256")) { bench, verifier in
      let key = ClientKey(file: bench.file("client key", Self.rsa?.pemRepresentation ?? ""))
      #expect(await bench.failure(of: bench.endpoint(.assertion(key))) == nil)
      verifier.key.withLock { $0 = Self.rsa("RSA", nil, "PS256") }
      let endpoint = bench.endpoint(.assertion(key)) { $0.signingAlgorithms = ["ES256", "PS256"] }
      #expect(await bench.failure(of: endpoint) == nil)
    }
  }

  @Test("a key that the provider takes no algorithm of is not used, and both are named")
  func noCommonAlgorithm() async throws {
    try await run { bench, _ in
      let key = ClientKey(file: bench.file("client key", Self.keys[0].pem))
      let endpoint = bench.endpoint(.assertion(key)) { $0.signingAlgorithms = ["RS256", "PS256"] }
      let message =
        "The client key in /etc/file signs with ES256, but the provider accepts only RS256, PS256. Use another key."
      #expect(await bench.failure(of: endpoint) == .misconfigured(message: message))
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("a new key counts at once, and one that cannot be used is the configuration's")
  func keyFile() async throws {
    try await run { bench, verifier in
      let file = bench.file("client key", Self.keys[0].pem)
      let endpoint = bench.endpoint(.assertion(ClientKey(file: file)))
      #expect(await bench.failure(of: endpoint) == nil)
      verifier.key.withLock { $0 = Self.es256("other", "", Self.otherP256) }
      #expect(await bench.failure(of: endpoint) != nil)
      bench.files.put(Self.otherP256.pemRepresentation, at: file.path)
      #expect(await bench.failure(of: endpoint) == nil)

      let sent = bench.server.requests.count
      let sealed = Self.pem("ENCRYPTED PRIVATE KEY", [1, 2, 3])
      for (text, words) in [
        ("hello", "it contains no private key"), (sealed, "protected by a passphrase"),
        (Self.pem("PRIVATE KEY", [0x30, 0x00]), "no valid EC P-256, Ed25519 or RSA key"),
      ] {
        bench.files.put(text, at: file.path)
        guard case .misconfigured(let message)? = await bench.failure(of: endpoint) else {
          Issue.record("\(text) was taken")
          continue
        }
        #expect(message.hasPrefix("Cannot use the client key in /etc/file: ") && message.contains(words))
      }
      bench.files.fail(.read, at: file.path, with: .absent)
      let absent = "Cannot read the client key in /etc/file: no such file."
      #expect(await bench.failure(of: endpoint) == .misconfigured(message: absent))
      bench.files.fail(.read, at: file.path, with: .unanswered(.seconds(10)))
      let hanging = "Cannot read the client key in /etc/file: no response within 10 s."
      #expect(await bench.failure(of: endpoint) == .unavailable(message: hanging, retryAfter: nil))
      #expect(bench.server.requests.count == sent)
    }
  }

  @Test("the key's name, the certificate's thumbprint and another audience go with it where they are configured")
  func header() async throws {
    try await run { bench, verifier in
      verifier.audience.withLock { $0 = "https://issuer.example.com/" }
      let authority = try TestAuthority.root()
      let certificate = bench.file("client certificate", "a comment\n" + (try authority.pem), at: "/etc/cert.pem")
      let key = ClientKey(
        file: bench.file("client key", Self.keys[0].pem), certificate: certificate, id: "key-1",
        audience: "https://issuer.example.com/")
      #expect(await bench.failure(of: bench.endpoint(.assertion(key))) == nil)
      let der = Data(base64Encoded: try authority.pem.split(separator: "\n").dropFirst().dropLast().joined()) ?? Data()
      let thumbprint = Base64URL.encode(Array(SHA256.hash(data: der)))
      let expected: JSONValue = .object([
        "alg": .string("ES256"), "typ": .string("JWT"), "kid": .string("key-1"), "x5t#S256": .string(thumbprint),
      ])
      #expect(verifier.headers.withLock { $0 } == [expected])
    }
  }

  @Test("a revocation is authenticated in the same way, for the same audience")
  func revocation() async throws {
    try await run { bench, _ in
      let endpoint = bench.endpoint(.assertion(ClientKey(file: bench.file("client key", Self.keys[0].pem))))
      #expect(await endpoint.revoke(bench.credential) == .revoked)
    }
  }

  @Test("Apple's client secret is a JWT of the team, for Apple, made anew for each request")
  func apple() async throws {
    let clock = ManualClock()
    let verifier = Verifier(Self.keys[0]) { clock.now() }
    verifier.audience.withLock { $0 = "https://appleid.apple.com" }
    let halfYear = 15_777_000.0
    try await TransportBench.run(
      clock: clock,
      { request in
        let fault = verifier.fault(request.form["client_secret"], issuer: "TEAM123456", longest: halfYear)
        return fault.map { .refused("invalid_client: " + $0, status: 400) } ?? .granted
      }
    ) { bench in
      let key = ClientKey(file: bench.file("client key", Self.keys[0].pem), id: "KEY1234567")
      let endpoint = bench.endpoint(.appleSecret(key, teamID: "TEAM123456"))
      for _ in 0..<2 { #expect(await bench.failure(of: endpoint) == nil) }
      bench.clock.advance(by: .seconds(200 * 86_400))
      #expect(await bench.failure(of: endpoint) == nil)
      #expect(bench.server.requests.allSatisfy { $0.form["client_id"] == "hearth" })
      #expect(verifier.headers.withLock { $0 }.allSatisfy { $0["kid"]?.text == "KEY1234567" })
    }
  }
}

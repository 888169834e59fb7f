import Crypto
import FoundationEssentials
import HearthCore
import NIOSSL

/// How to connect to a server. Requests with equal plans can share connections.
struct ConnectionPlan: Hashable, Sendable {
  let origin: Origin
  var proxy: Proxy?
  /// The TLS settings, or `nil` for plain HTTP.
  var tls: TLSConfiguration?
  /// At least one of the pins must match a key in the server's chain. If there are no pins, any key is accepted.
  var pins: Set<CertificatePin> = []

  /// Creates a plan for a direct connection that trusts the system's authorities.
  init(to origin: Origin) {
    self.origin = origin
    tls = origin.scheme == "https" ? Self.minimumTLS : nil
  }

  static func == (one: ConnectionPlan, other: ConnectionPlan) -> Bool {
    guard (one.origin, one.proxy, one.pins) == (other.origin, other.proxy, other.pins) else { return false }
    return switch (one.tls, other.tls) {
    case (let one?, let other?): one.bestEffortEquals(other)
    case (nil, nil): true
    case (.some, nil), (nil, .some): false
    }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(origin)
    hasher.combine(proxy)
    hasher.combine(pins)
    tls?.bestEffortHash(into: &hasher)
  }

  /// The host and port to connect to: the proxy's if there is a proxy, otherwise the server's.
  var place: (host: String, port: Int) {
    proxy.map { ($0.host, $0.port) } ?? (origin.address, origin.port)
  }

  /// The host name that the certificate must contain, or `nil` for an IP address, because the TLS library checks IP
  /// addresses itself.
  var serverName: String? {
    let host = origin.host
    let isAddress =
      host.hasPrefix("[") || (host.last?.isNumber ?? false) && host.allSatisfy { $0.isNumber || $0 == "." }
    return isAddress ? nil : host
  }

  /// Throws if the chain contains a weak certificate, or if keys are pinned and the chain contains none of them.
  /// BoringSSL checks neither. `certificates` is the server's chain, starting with the root.
  func check(_ certificates: [NIOSSLCertificate]) throws {
    try CertificateStrength.check(certificates)
    guard !pins.isEmpty else { return }
    let chain = try certificates.map { try CertificatePin(of: $0) }
    guard pins.isDisjoint(with: chain) else { return }
    let wanted = pins.map(\.description).sorted().joined(separator: ", ")
    let shown = chain.reversed().map(\.description).joined(separator: ", ")
    throw Reason(
      "the server's certificate chain contains none of the keys in certificate_pins (\(wanted)), only \(shown)")
  }

  /// Requires TLS 1.2 or later and forward secrecy, and rejects SHA-1 signatures (RFC 9325, sections 3.1.1, 4.1 and
  /// 4.2). Uses the library's default groups: X25519 with and without ML-KEM-768, P-256 and P-384.
  static let minimumTLS: TLSConfiguration = {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // `TLSContexts` replaces `nil` with the system's authorities.
    configuration.trustRoots = nil
    // This list limits only TLS 1.2, because all suites of TLS 1.3 have forward secrecy. The last four suites are for
    // servers that support nothing better.
    configuration.cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
      .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, .TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
    ]
    let signatures: [SignatureAlgorithm] = [
      .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
      .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512, .ed25519,
    ]
    configuration.verifySignatureAlgorithms = signatures
    configuration.signingSignatureAlgorithms = signatures
    configuration.applicationProtocols = ["http/1.1"]
    return configuration
  }()
}

extension Origin {
  /// The host without the brackets around an IPv6 address.
  var address: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}

/// A pin for a public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4).
package struct CertificatePin: Hashable, Sendable, CustomStringConvertible {
  private let digest: [UInt8]

  /// Parses `sha256/BASE64`. Returns `nil` if the text does not have this form.
  package init?(_ text: String) {
    let prefix = "sha256/"
    guard text.hasPrefix(prefix), let digest = Data(base64Encoded: String(text.dropFirst(prefix.count))),
      digest.count == SHA256.byteCount
    else { return nil }
    self.digest = Array(digest)
  }

  init(of certificate: NIOSSLCertificate) throws {
    digest = Array(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
  }

  package var description: String { "sha256/" + Data(digest).base64EncodedString() }
}

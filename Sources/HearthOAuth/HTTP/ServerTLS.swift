import HearthCore
import NIOSSL

/// TLS to one server, whose chain is checked beyond what BoringSSL checks: every certificate must be strong enough, and
/// one must have a pinned key where keys are pinned.
struct ServerTLS: Sendable {
  let configuration: TLSConfiguration
  /// It is nil where the host of the URL is an address.
  let serverName: String?
  /// One of these keys must be in the chain; none: every chain that is trusted is accepted.
  let pins: Set<CertificatePin>
  let contexts: TLSContexts

  init(_ plan: ConnectionPlan, to origin: Origin, contexts: TLSContexts) {
    (configuration, pins) = (plan.tls, plan.pins)
    serverName = origin.serverName
    self.contexts = contexts
  }

  /// A chain that is trusted and has none of the keys.
  struct Mismatch: Error, CustomStringConvertible {
    let pins: Set<CertificatePin>
    /// From the root to the server's own.
    let chain: [CertificatePin]

    var description: String {
      let wanted = pins.map(\.description).sorted().joined(separator: ", ")
      let shown = chain.reversed().map(\.description).joined(separator: ", ")
      return "it proves none of the keys in certificate_pins (\(wanted)); its own and those above it are \(shown)"
    }
  }

  func check(_ chain: [CertificatePin]) throws(Mismatch) {
    guard !pins.isEmpty, pins.isDisjoint(with: chain) else { return }
    throw Mismatch(pins: pins, chain: chain)
  }

  /// At least TLS 1.2, the newest that both sides speak, with forward secrecy and without signatures over SHA-1
  /// (RFC 9325, sections 3.1.1, 4.1 and 4.2). The groups are the library's: X25519 with and without ML-KEM-768, P-256 and
  /// P-384.
  static let minimum: TLSConfiguration = {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // The system's authorities, by TLSContexts.
    configuration.trustRoots = nil
    // Those of TLS 1.3 all have forward secrecy. The last four are for servers that know nothing better.
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
  /// The name that a certificate is checked for; nil where the host is an address, which the TLS library checks.
  fileprivate var serverName: String? {
    let isAddress =
      host.hasPrefix("[") || (host.last?.isNumber ?? false) && host.allSatisfy { $0.isNumber || $0 == "." }
    return isAddress ? nil : host
  }
}

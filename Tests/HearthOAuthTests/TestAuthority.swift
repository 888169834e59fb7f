import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

@testable import HearthOAuth

/// A certificate authority made for a test.
struct TestAuthority {
  /// From this authority's own up to the root's.
  private let path: [Certificate]
  private let key: P256.Signing.PrivateKey

  static func root(_ name: String = "test root") throws -> TestAuthority {
    let key = P256.Signing.PrivateKey()
    let name = try DistinguishedName { CommonName(name) }
    return TestAuthority(path: [try authority(name, key.publicKey, by: name, key)], key: key)
  }

  /// An authority below this one.
  func intermediate(_ name: String = "test intermediate") throws -> TestAuthority {
    let key = P256.Signing.PrivateKey()
    let certificate = try Self.authority(
      try DistinguishedName { CommonName(name) }, key.publicKey, by: path[0].subject, self.key)
    return TestAuthority(path: [certificate] + path, key: key)
  }

  private static func authority(
    _ subject: DistinguishedName, _ publicKey: P256.Signing.PublicKey, by issuer: DistinguishedName,
    _ issuerKey: P256.Signing.PrivateKey
  ) throws -> Certificate {
    try certificate(
      subject, publicKey, by: issuer, issuerKey,
      Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true))
      })
  }

  private static func certificate(
    _ subject: DistinguishedName, _ publicKey: P256.Signing.PublicKey, by issuer: DistinguishedName,
    _ issuerKey: P256.Signing.PrivateKey, _ extensions: Certificate.Extensions,
    validity: ClosedRange<TimeInterval> = -3600...86_400
  ) throws -> Certificate {
    try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(publicKey),
      notValidBefore: Date() + validity.lowerBound, notValidAfter: Date() + validity.upperBound, issuer: issuer,
      subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
      issuerPrivateKey: Certificate.PrivateKey(issuerKey))
  }

  /// What it says of a server or a client: a certificate for this name, and for the addresses. `validity`: in seconds from
  /// now.
  func identity(
    _ name: String = "localhost", addresses: [[UInt8]] = [[127, 0, 0, 1]],
    validity: ClosedRange<TimeInterval> = -3600...86_400
  ) throws -> TestIdentity {
    let key = P256.Signing.PrivateKey()
    let certificate = try Self.certificate(
      try DistinguishedName { CommonName(name) }, key.publicKey, by: path[0].subject, self.key,
      Certificate.Extensions {
        SubjectAlternativeNames(
          [.dnsName(name)] + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) })
      }, validity: validity)
    // A server does not send the root's.
    return TestIdentity(chain: [certificate] + path.dropLast(), key: key)
  }

  var pem: String { get throws { try path[0].serializeAsPEM().pemString + "\n" } }
  var pin: CertificatePin { get throws { try TestIdentity.pin(of: path[0]) } }
}

/// A certificate, those between it and the root, and its key.
struct TestIdentity {
  let chain: [Certificate]
  let key: P256.Signing.PrivateKey

  var pem: String { get throws { try chain.map { try $0.serializeAsPEM().pemString + "\n" }.joined() } }
  var keyPEM: String { key.pemRepresentation }
  var pin: CertificatePin { get throws { try Self.pin(of: chain[0]) } }

  /// Made of the key as it was made, not as NIOSSL reads it out of the certificate.
  static func pin(of certificate: Certificate) throws -> CertificatePin {
    guard let key = P256.Signing.PublicKey(certificate.publicKey) else { preconditionFailure("a key of the test's") }
    let digest = Data(SHA256.hash(data: key.derRepresentation)).base64EncodedString()
    guard let pin = CertificatePin("sha256/" + digest) else { preconditionFailure("a pin of the test's") }
    return pin
  }

  /// A server that shows this. `clients`: it wants a certificate of this authority.
  func serverTLS(clients: TestAuthority? = nil) throws -> TLSConfiguration {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)))
    if let clients {
      configuration.certificateVerification = .noHostnameVerification
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clients.pem.utf8)))
    }
    return configuration
  }
}

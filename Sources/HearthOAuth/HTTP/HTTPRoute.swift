import HearthCore
import NIOSSL

/// How an account's requests reach its provider and APIs: the trusted authorities, the certificate pins, the client
/// certificate and the proxy.
package struct HTTPRoute: Hashable, Sendable {
  /// A client certificate and its key, for servers that request a certificate (RFC 8705, section 2).
  package struct Identity: Hashable, Sendable {
    let certificate: ClientFile
    let key: ClientFile
  }

  /// PEM certificates to trust instead of the system's.
  package var authorities: ClientFile?
  package var identity: Identity?
  /// At least one of the pins must match a key in the server's chain. If there are no pins, any key is accepted.
  package var pins: Set<CertificatePin> = []
  package var proxy = ProxyChoice.direct

  /// Creates the plan for a URL. Reads certificates and keys from `files` each time.
  func plan(for url: HTTPURL, files: any FileSystem) async throws(RefreshFailure) -> ConnectionPlan {
    var plan = ConnectionPlan(to: url.origin)
    plan.proxy = try proxy.proxy(for: url.origin)
    guard var tls = plan.tls else { return plan }
    if let authorities { tls.trustRoots = .certificates(try await authorities.certificates(from: files)) }
    if let identity { try await identity.configure(&tls, from: files) }
    plan.tls = tls
    plan.pins = pins
    return plan
  }
}

extension HTTPRoute.Identity {
  fileprivate func configure(
    _ tls: inout TLSConfiguration, from files: any FileSystem
  ) async throws(RefreshFailure) {
    tls.certificateChain = try await certificate.certificates(from: files).map { .certificate($0) }
    let text = try await key.text(from: files)
    guard let block = PEM.blocks(in: text).first(where: { $0.label.hasSuffix("PRIVATE KEY") }),
      let privateKey = try? NIOSSLPrivateKey(bytes: Array(block.text.utf8), format: .pem)
    else {
      throw .misconfigured(
        message:
          "Cannot use the client key in \(key.place). It must be a PEM file with a private key that has no passphrase."
      )
    }
    tls.privateKey = .privateKey(privateKey)
    do {
      var pair = tls
      pair.trustRoots = .certificates([])
      _ = try NIOSSLContext(configuration: pair)
    } catch {
      throw .misconfigured(
        message: "The client key in \(key.place) does not match the certificate \(certificate.path).")
    }
  }
}

extension ClientFile {
  fileprivate func certificates(from files: any FileSystem) async throws(RefreshFailure) -> [NIOSSLCertificate] {
    let text = try await text(from: files)
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8)), !certificates.isEmpty else {
      throw .misconfigured(
        message: "Cannot use the \(name) \(path), because the file contains no PEM certificate.")
    }
    return certificates
  }
}

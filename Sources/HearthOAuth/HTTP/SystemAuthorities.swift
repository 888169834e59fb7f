import FoundationEssentials
import NIOSSL

/// The certificate authorities to trust if an account does not configure any. `SSL_CERT_FILE` and `SSL_CERT_DIR`
/// replace the system's authorities (SSL_CTX_set_default_verify_paths(3)).
package struct SystemAuthorities: Hashable, Sendable {
  private let file: String?
  private let folders: [String]

  package init(_ environment: [String: String]) {
    file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    folders = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
  }

  func roots() throws -> NIOSSLTrustRoots {
    guard file != nil || !folders.isEmpty else { return .default }
    var certificates: [NIOSSLCertificate] = []
    if let file {
      guard let found = try? NIOSSLCertificate.fromPEMFile(file), !found.isEmpty else {
        throw Reason("SSL_CERT_FILE names \(file), but this file contains no readable PEM certificate")
      }
      certificates = found
    }
    // Uses all files that contain certificates, except hidden ones. OpenSSL requires hashed names, but the files in
    // many such folders do not have them.
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names.filter({ !$0.hasPrefix(".") }).sorted() {
        certificates += (try? NIOSSLCertificate.fromPEMFile(folder + "/" + name)) ?? []
      }
    }
    guard !certificates.isEmpty else {
      throw Reason(
        "SSL_CERT_DIR names \(folders.joined(separator: ":")), but no readable PEM certificate was found there")
    }
    return .certificates(certificates)
  }
}

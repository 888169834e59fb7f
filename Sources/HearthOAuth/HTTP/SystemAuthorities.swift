import FoundationEssentials
import NIOSSL

/// The authorities that are trusted if an account names none: the system's, or those that the environment variables
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` name instead (SSL_CTX_set_default_verify_paths(3)).
package struct SystemAuthorities: Hashable, Sendable {
  private let file: String?
  private let folders: [String]

  /// Why there is nothing to trust, as the end of a sentence.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  package init(_ environment: [String: String]) {
    file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    folders = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
  }

  /// The authorities that are trusted now. Reads the disk.
  func roots() throws -> NIOSSLTrustRoots {
    guard file != nil || !folders.isEmpty else { return .default }
    var certificates: [NIOSSLCertificate] = []
    if let file {
      guard let found = try? NIOSSLCertificate.fromPEMFile(file), !found.isEmpty else {
        throw Failure(description: "SSL_CERT_FILE names \(file), but no certificate (PEM) in it can be read")
      }
      certificates = found
    }
    // Every file that holds certificates counts, whatever its name. OpenSSL requires hashed names, which many such
    // folders never had.
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names.filter({ !$0.hasPrefix(".") }).sorted() {
        certificates += (try? NIOSSLCertificate.fromPEMFile(folder + "/" + name)) ?? []
      }
    }
    guard !certificates.isEmpty else {
      throw Failure(
        description:
          "SSL_CERT_DIR names \(folders.joined(separator: ":")), but no certificate (PEM) in it can be read")
    }
    return .certificates(certificates)
  }
}

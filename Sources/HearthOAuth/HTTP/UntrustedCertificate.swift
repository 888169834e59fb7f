import Glibc
import NIOSSL

/// A certificate in a server's chain that BoringSSL rejects. BoringSSL's error does not include the reason.
struct UntrustedCertificate: Error, CustomStringConvertible {
  enum Reason: Hashable, Sendable {
    /// The time is in seconds since 1970.
    case expired(at: Int)
    case notYetValid(before: Int)
    /// The certificate failed verification for another reason, usually because no trusted authority has signed it.
    case unknownAuthority
  }

  let reason: Reason

  /// `now` is in seconds since 1970.
  init(_ certificate: NIOSSLCertificate, at now: Int = time(nil)) {
    self.init(notBefore: certificate.notValidBefore, notAfter: certificate.notValidAfter, at: now)
  }

  init(notBefore: Int, notAfter: Int, at now: Int) {
    reason =
      notAfter < now ? .expired(at: notAfter) : now < notBefore ? .notYetValid(before: notBefore) : .unknownAuthority
  }

  var description: String {
    switch reason {
    case .expired(let end):
      "a certificate in the server's chain expired on \(Self.day(end)). Check this machine's clock. If the clock is "
        + "right, ask the server's operator to renew the certificate"
    case .notYetValid(let start):
      "a certificate in the server's chain is not valid before \(Self.day(start)). Check this machine's clock"
    case .unknownAuthority:
      "the server's certificate is not from a trusted authority (CERTIFICATE_VERIFY_FAILED). If the authority is your "
        + "own, set the account's \"ca_file\" to its certificate"
    }
  }

  private static func day(_ seconds: Int) -> String {
    var (seconds, parts) = (seconds, tm())
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
  }
}

import Glibc
import NIOSSL

extension Reason {
  /// Describes a certificate in a server's chain that BoringSSL rejects. BoringSSL's error does not include the reason.
  init(untrusted certificate: NIOSSLCertificate) {
    let now = time(nil)
    let text =
      if certificate.notValidAfter < now {
        "a certificate in the server's chain expired on \(Self.day(certificate.notValidAfter)). Check this machine's "
          + "clock. If the clock is right, ask the server's operator to renew the certificate"
      } else if now < certificate.notValidBefore {
        "a certificate in the server's chain is not valid before \(Self.day(certificate.notValidBefore)). Check this "
          + "machine's clock"
      } else {
        // Usually, no trusted authority has signed the certificate.
        "the server's certificate is not from a trusted authority (CERTIFICATE_VERIFY_FAILED). If the authority is "
          + "your own, set the account's \"ca_file\" to its certificate"
      }
    self.init("TLS failed: " + text)
  }

  private static func day(_ seconds: Int) -> String {
    var (seconds, parts) = (seconds, tm())
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
  }
}

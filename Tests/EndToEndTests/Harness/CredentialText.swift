import Glibc

/// The credential file as another program writes it.
enum CredentialText {
  /// `lifetime` is in seconds from now. If it is negative, the token has expired.
  static func grant(
    _ grant: Sandbox.Grant, of sandbox: Sandbox, account: String = "work", subject: String = "2482",
    lifetime: Int = 3600
  ) -> String {
    """
    {"version":1,"account":"\(account)","issuer":"\(sandbox.url)","origin":"\(sandbox.url)","subject":"\(subject)",\
    "protection":"none","grant":{"accessToken":"\(grant.accessToken)","refreshToken":"\(grant.refreshToken)",\
    "idToken":null,"tokenType":"Bearer","scope":"openid offline_access","issuedAt":"\(time(min(lifetime, 0) - 60))",\
    "expiresAt":"\(time(lifetime))","refreshExpiresAt":null}}
    """
  }

  /// A time in RFC 3339, this many seconds from now.
  private static func time(_ seconds: Int) -> String {
    var now = Glibc.time(nil) + seconds
    var parts = tm()
    gmtime_r(&now, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    let length = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S.000Z", &parts)
    return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

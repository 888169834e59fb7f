package import HearthCore

extension Token {
  /// A token whose fingerprint is its number.
  package static func sample(_ number: Int) -> Token {
    let digits = String(number, radix: 16)
    let padded = String(repeating: "0", count: 8 - digits.count) + digits
    guard let fingerprint = Fingerprint(padded) else { preconditionFailure("a sample's number has 8 hex digits") }
    return Token(secret: Secret("token-\(number)"), fingerprint: fingerprint)
  }
}

extension Credential {
  /// Access token `number` and refresh token `number + 1000`, valid for an hour.
  package static func sample(
    _ number: Int, subject: Subject? = .sample, issuedAt: Timestamp, lifetime: Duration? = .seconds(3600),
    isRenewable: Bool = true
  ) -> Credential {
    Credential(
      grant: Grant(
        accessToken: .sample(number), refreshToken: isRenewable ? .sample(number + 1000) : nil, issuedAt: issuedAt,
        expiresAt: lifetime.map { issuedAt + $0 }),
      subject: subject, origin: .sample)
  }
}

extension Subject {
  package static let sample = Subject(issuer: "https://id.example.com", id: "2482")
}

extension Origin {
  package static let sample: Origin = {
    guard let url = try? HTTPURL("https://id.example.com/token") else { preconditionFailure("the sample is a URL") }
    return url.origin
  }()
}

extension TokenResponse {
  /// What a provider answers that grants this now.
  package init(_ credential: Credential, at now: Timestamp) {
    let grant = credential.grant
    self.init(
      accessToken: grant.accessToken, refreshToken: grant.refreshToken, idToken: grant.idToken, scope: grant.scope,
      lifetime: grant.expiresAt.map { $0 - now }, refreshLifetime: grant.refreshExpiresAt.map { $0 - now },
      subject: credential.subject, origin: credential.origin ?? .sample)
    origins = credential.origins
  }

  package static func sample(
    _ number: Int, lifetime: Duration? = .seconds(3600), subject: Subject? = .sample
  ) -> TokenResponse {
    TokenResponse(
      accessToken: .sample(number), refreshToken: .sample(number + 1000), lifetime: lifetime, subject: subject,
      origin: .sample)
  }
}

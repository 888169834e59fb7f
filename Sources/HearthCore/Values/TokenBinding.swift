/// Where an account's grants belong: the origin of its token endpoint, as far as the configuration tells it.
package struct TokenBinding: Hashable, Sendable {
  /// Of the token endpoint; until discovery has told it, of the issuer.
  package private(set) var origin: Origin
  /// Discovery may name another origin yet.
  package private(set) var isOriginOpen: Bool
  /// The issuer that is to be discovered.
  private let issuer: IssuerName?
  /// Grants that name no origin are told by their issuer.
  private let isToldByIssuer: Bool

  /// A token endpoint that is named. `isToldByIssuer`: false where a provider's issuers have names of another kind.
  package init(named origin: Origin, isToldByIssuer: Bool = true) {
    (self.origin, self.isToldByIssuer) = (origin, isToldByIssuer)
    (issuer, isOriginOpen) = (nil, false)
  }

  /// A token endpoint that an issuer tells.
  package init(discoveredBy issuer: String, at origin: Origin) {
    (self.origin, self.issuer) = (origin, IssuerName(issuer))
    (isToldByIssuer, isOriginOpen) = (true, true)
  }

  /// The token endpoint is known.
  package mutating func settle(at found: Origin) {
    origin = found
    isOriginOpen = false
  }

  /// Why a grant must not be sent here; nil where nothing is known against it.
  package func refusal(of credential: Credential) -> String? {
    if let own = credential.origin {
      guard own != origin, !isOriginOpen || isOthers(credential.subject) else { return nil }
      return refusal(from: own.description, to: origin.description)
    }
    guard isToldByIssuer, isOthers(credential.subject), let named = credential.subject?.issuer else { return nil }
    let own = (try? HTTPURL(named))?.description ?? "another issuer"
    return refusal(from: own, to: issuer?.text ?? origin.description)
  }

  private func isOthers(_ subject: Subject?) -> Bool {
    guard let named = subject?.issuer else { return false }
    return issuer.map { !$0.covers(named) } ?? ((try? HTTPURL(named))?.origin != origin)
  }

  private func refusal(from own: String, to configured: String) -> String {
    "The grant is from \(own) and the configuration names \(configured), so nothing was sent: "
      + "sign in again or mend the configuration."
  }
}

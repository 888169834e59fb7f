/// The origins that an account's grants are bound to: that of its token endpoint, as far as the configuration names it,
/// and those of the other endpoints that receive tokens.
package struct TokenBinding: Hashable, Sendable {
  /// The origin of the token endpoint. Until discovery has named it, that of the issuer.
  package private(set) var origin: Origin
  /// Whether discovery may still name another origin.
  package private(set) var isOriginOpen: Bool
  /// The origins of all endpoints that receive tokens, as they are named now. `nil` until discovery has named them.
  package var endpoints: Set<Origin>?
  /// The issuer, if discovery is used.
  private let issuer: IssuerName?
  /// Whether a grant that names no origin is recognised by its issuer.
  private let isRecognizedByIssuer: Bool

  /// A binding to a configured endpoint. `isRecognizedByIssuer`: whether the provider's issuers are its origins.
  package init(named origin: Origin, endpoints: Set<Origin>? = nil, isRecognizedByIssuer: Bool = true) {
    (self.origin, self.isRecognizedByIssuer) = (origin, isRecognizedByIssuer)
    self.endpoints = endpoints
    (issuer, isOriginOpen) = (nil, false)
  }

  /// A binding to the token endpoint that an issuer's discovery document names.
  package init(discoveredBy issuer: String, at origin: Origin) {
    (self.origin, self.issuer) = (origin, IssuerName(issuer))
    (isRecognizedByIssuer, isOriginOpen) = (true, true)
  }

  /// Returns this binding with what discovery has named for `earlier`, if that is the same issuer's.
  func keeping(_ earlier: TokenBinding?) -> TokenBinding {
    guard issuer != nil, let earlier, earlier.issuer == issuer else { return self }
    return earlier
  }

  /// Called when discovery has named the token endpoint.
  package mutating func resolve(to found: Origin) {
    origin = found
    isOriginOpen = false
  }

  /// Explains why a grant must not be sent here. `nil` if nothing is known against it.
  package func mismatch(of credential: Credential) -> String? {
    if let own = credential.origin {
      guard own != origin, !isOriginOpen || isForeign(credential.subject) else { return nil }
      return sentence(from: own.description, to: origin.description)
    }
    guard isRecognizedByIssuer, isForeign(credential.subject), let named = credential.subject?.issuer else {
      return nil
    }
    let own = (try? HTTPURL(named))?.description ?? "another issuer"
    return sentence(from: own, to: issuer?.text ?? origin.description)
  }

  /// Explains why some endpoint receives nothing, although the token may be refreshed. `nil` if there is none.
  package func strayEndpoint(of credential: Credential) -> String? {
    guard let stray = endpoints?.filter({ !credential.mayReach($0) }).map(\.description).min() else { return nil }
    return "The provider now names an endpoint at \(stray) that it did not name when you signed in, so nothing is sent "
      + "there: sign in again or fix the configuration."
  }

  private func isForeign(_ subject: Subject?) -> Bool {
    guard let named = subject?.issuer else { return false }
    return issuer.map { !$0.covers(named) } ?? ((try? HTTPURL(named))?.origin != origin)
  }

  private func sentence(from own: String, to configured: String) -> String {
    "The grant is from \(own) and the configuration names \(configured), so nothing was sent: "
      + "sign in again or fix the configuration."
  }
}

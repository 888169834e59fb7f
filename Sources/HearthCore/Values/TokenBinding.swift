/// The origins that an account's grants are bound to: the origin of the token endpoint and, if known, those of all
/// other endpoints that receive tokens.
package struct TokenBinding: Hashable, Sendable {
  /// The origin of the token endpoint, or of the issuer until discovery has found that endpoint.
  package private(set) var origin: Origin
  /// Whether discovery may still find another origin.
  package private(set) var isOriginOpen: Bool
  /// The origins of all endpoints that receive tokens, or `nil` until discovery has found them.
  package var endpoints: Set<Origin>?
  private let issuer: IssuerName?
  /// Whether a grant without an origin is recognized by its issuer.
  private let isRecognizedByIssuer: Bool

  /// Creates a binding to a configured endpoint. `isRecognizedByIssuer` is true if the provider's issuer URLs have the
  /// same origin as its token endpoint.
  package init(named origin: Origin, endpoints: Set<Origin>? = nil, isRecognizedByIssuer: Bool = true) {
    (self.origin, self.isRecognizedByIssuer) = (origin, isRecognizedByIssuer)
    self.endpoints = endpoints
    (issuer, isOriginOpen) = (nil, false)
  }

  /// Creates a binding to the token endpoint in the issuer's discovery document.
  package init(discoveredBy issuer: String, at origin: Origin) {
    (self.origin, self.issuer) = (origin, IssuerName(issuer))
    (isRecognizedByIssuer, isOriginOpen) = (true, true)
  }

  /// Returns `earlier`, which contains the results of discovery, if both bindings are for the same issuer. Otherwise,
  /// returns this binding.
  func keeping(_ earlier: TokenBinding?) -> TokenBinding {
    guard issuer != nil, let earlier, earlier.issuer == issuer else { return self }
    return earlier
  }

  /// Sets the origin of the token endpoint. Called when discovery has found it.
  package mutating func resolve(to found: Origin) {
    origin = found
    isOriginOpen = false
  }

  /// Returns the reason why a grant must not be sent to this provider, or `nil` if it may be sent.
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

  /// Returns the reason why one of the endpoints must not receive the token, although the token may be refreshed.
  /// Returns `nil` if all endpoints may receive it or the endpoints are unknown.
  package func strayEndpoint(of credential: Credential) -> String? {
    guard let stray = endpoints?.filter({ !credential.mayReach($0) }).map(\.description).min() else { return nil }
    return "One of the provider's endpoints is now at \(stray), which was unknown when you signed in, so Hearth sends "
      + "nothing to it. Sign in again or fix the configuration."
  }

  private func isForeign(_ subject: Subject?) -> Bool {
    guard let named = subject?.issuer else { return false }
    return issuer.map { !$0.covers(named) } ?? ((try? HTTPURL(named))?.origin != origin)
  }

  private func sentence(from own: String, to configured: String) -> String {
    "The grant was issued by \(own), but the account now uses \(configured), so Hearth did not use the grant. "
      + "Sign in again or fix the configuration."
  }
}

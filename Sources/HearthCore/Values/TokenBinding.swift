/// The origins that an account's grants are bound to: that of its token endpoint, as far as the configuration names it, and
/// those of the other endpoints that are sent tokens.
package struct TokenBinding: Hashable, Sendable {
  /// The origin of the token endpoint; until discovery has named that, of the issuer.
  package private(set) var origin: Origin
  /// Discovery may still name another origin.
  package private(set) var isOriginOpen: Bool
  /// The origins of all endpoints that are sent tokens, as they are named now; nil until discovery has named them.
  package var endpoints: Set<Origin>?
  /// The issuer that is to be discovered.
  private let issuer: IssuerName?
  /// A grant that names no origin is recognised by its issuer.
  private let isRecognizedByIssuer: Bool

  /// A token endpoint that is named. `isRecognizedByIssuer`: false where a provider's issuers have names of another kind.
  package init(named origin: Origin, endpoints: Set<Origin>? = nil, isRecognizedByIssuer: Bool = true) {
    (self.origin, self.isRecognizedByIssuer) = (origin, isRecognizedByIssuer)
    self.endpoints = endpoints
    (issuer, isOriginOpen) = (nil, false)
  }

  /// A token endpoint that an issuer's discovery document names.
  package init(discoveredBy issuer: String, at origin: Origin) {
    (self.origin, self.issuer) = (origin, IssuerName(issuer))
    (isRecognizedByIssuer, isOriginOpen) = (true, true)
  }

  /// Discovery has named the token endpoint.
  package mutating func resolve(to found: Origin) {
    origin = found
    isOriginOpen = false
  }

  /// Why a grant must not be sent here; nil where nothing is known against it.
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

  /// Why nothing is sent to some endpoint, though the token may be refreshed; nil where each was known at sign-in.
  package func strayEndpoint(of credential: Credential) -> String? {
    guard let stray = endpoints?.filter({ !credential.mayReach($0) }).map(\.description).min() else { return nil }
    return "An endpoint is at \(stray) now, which was not named when you signed in, so nothing is sent there: "
      + "sign in again or mend the configuration."
  }

  private func isForeign(_ subject: Subject?) -> Bool {
    guard let named = subject?.issuer else { return false }
    return issuer.map { !$0.covers(named) } ?? ((try? HTTPURL(named))?.origin != origin)
  }

  private func sentence(from own: String, to configured: String) -> String {
    "The grant is from \(own) and the configuration names \(configured), so nothing was sent: "
      + "sign in again or mend the configuration."
  }
}

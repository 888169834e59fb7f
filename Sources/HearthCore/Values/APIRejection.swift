/// An API answered 401 to a token (RFC 6750, section 3.1).
package struct APIRejection: Hashable, Sendable {
  package let fingerprint: Fingerprint
  /// Whose answer it was, where that is known.
  package let origin: Origin?
  /// Others were answered 2xx with that same token: however new it is, this alone does not end the session.
  package let isAcceptedElsewhere: Bool
  /// The API wants more than a fresh token (`Challenge`): the answer is no word on the session.
  package let isChallenge: Bool

  package init(
    _ fingerprint: Fingerprint, origin: Origin? = nil, isAcceptedElsewhere: Bool = false, isChallenge: Bool = false
  ) {
    self.fingerprint = fingerprint
    self.origin = origin
    self.isAcceptedElsewhere = isAcceptedElsewhere
    self.isChallenge = isChallenge
  }
}

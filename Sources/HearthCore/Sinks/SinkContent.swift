/// What a sink's file is made of.
package struct SinkContent: Hashable, Sendable {
  package let bearer: Bearer
  /// The configured one, where the user is not known.
  package let issuer: String?

  package init(_ ready: ReadyToken) { self.init(ready.bearer, issuer: ready.issuer) }

  package init(_ bearer: Bearer, issuer: String?) {
    self.bearer = bearer
    self.issuer = issuer
  }

  /// What tells it from another content, without a secret.
  struct Mark: Hashable, Sendable {
    let fingerprint: Fingerprint
    let expiresAt: Timestamp?
    let subject: Subject?
    let issuer: String?

    func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
  }

  var mark: Mark {
    Mark(fingerprint: bearer.token.fingerprint, expiresAt: bearer.expiresAt, subject: bearer.subject, issuer: issuer)
  }
}

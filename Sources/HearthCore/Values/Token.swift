/// A token and the name it may be called by. The rim that reads a token computes its fingerprint.
package struct Token: Hashable, Sendable {
  package let secret: Secret
  package let fingerprint: Fingerprint

  package init(secret: Secret, fingerprint: Fingerprint) {
    self.secret = secret
    self.fingerprint = fingerprint
  }
}

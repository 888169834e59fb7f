/// A grant, whose it is, and where it may be sent to be refreshed.
package struct Credential: Hashable, Sendable {
  package var grant: Grant
  /// Nil while the owner of the grant is unknown.
  package var subject: Subject?
  /// The origin of the token endpoint it came from; nil in a file that another program wrote without one.
  package var origin: Origin?

  package init(grant: Grant, subject: Subject?, origin: Origin?) {
    self.grant = grant
    self.subject = subject
    self.origin = origin
  }
}

/// A grant, whose it is, and where it may be sent to be refreshed.
package struct Credential: Hashable, Sendable {
  package var grant: Grant
  /// Nil while the owner of the grant is unknown.
  package var subject: Subject?
  /// The origin of the token endpoint it came from; nil in a file that another program wrote without one.
  package var origin: Origin?
  /// The origins of all endpoints that the provider named at sign-in and that are sent tokens; nil where they were not
  /// known then, or the file is older than this field.
  package var origins: Set<Origin>?

  package init(grant: Grant, subject: Subject?, origin: Origin?, origins: Set<Origin>? = nil) {
    self.grant = grant
    self.subject = subject
    self.origin = origin
    self.origins = origins
  }

  /// Whether its tokens may be sent to this origin, beside that of its token endpoint.
  package func mayReach(_ endpoint: Origin) -> Bool {
    origins.map { $0.contains(endpoint) || endpoint == origin } ?? true
  }
}

/// A grant, its owner, and where it may be sent for a refresh.
package struct Credential: Hashable, Sendable {
  package var grant: Grant
  /// `nil` while the owner of the grant is unknown.
  package var subject: Subject?
  /// The origin of the token endpoint that it came from. `nil` in a file that another program wrote without one.
  package var origin: Origin?
  /// The origins of all endpoints that the provider named at sign-in and that receive tokens. `nil` if they were not
  /// known then, or if the file is older than this field.
  package var origins: Set<Origin>?

  package init(grant: Grant, subject: Subject?, origin: Origin?, origins: Set<Origin>? = nil) {
    (self.grant, self.subject, self.origin, self.origins) = (grant, subject, origin, origins)
  }

  /// Applies a response to the previous grant.
  init(_ response: TokenResponse, after old: Grant?, bearer: BearerKind, receivedAt now: Timestamp) {
    self.init(
      grant: Grant(response, after: old, bearer: bearer, receivedAt: now), subject: response.subject,
      origin: response.origin, origins: response.origins)
  }

  /// Whether its tokens may be sent to this origin, besides that of its token endpoint.
  package func mayReach(_ endpoint: Origin) -> Bool {
    origins.map { $0.contains(endpoint) || endpoint == origin } ?? true
  }
}

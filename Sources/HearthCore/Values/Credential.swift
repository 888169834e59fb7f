/// A grant, its owner, and the origins to which it may be sent.
package struct Credential: Hashable, Sendable {
  package var grant: Grant
  /// The grant's owner, or `nil` while the owner is unknown.
  package var subject: Subject?
  /// The origin of the token endpoint that issued the grant, or `nil` if another program wrote the file without an
  /// origin.
  package var origin: Origin?
  /// The origins of all endpoints that receive tokens, as the provider named them at sign-in. `nil` if there was only
  /// one such endpoint, if they were unknown, or if the file predates this field.
  package var origins: Set<Origin>?

  package init(grant: Grant, subject: Subject?, origin: Origin?, origins: Set<Origin>? = nil) {
    (self.grant, self.subject, self.origin, self.origins) = (grant, subject, origin, origins)
  }

  /// Creates a credential from a response and the previous grant.
  init(_ response: TokenResponse, after old: Grant?, bearer: BearerKind, receivedAt now: Timestamp) {
    self.init(
      grant: Grant(response, after: old, bearer: bearer, receivedAt: now), subject: response.subject,
      origin: response.origin, origins: response.origins)
  }

  /// Returns whether the credential's tokens may be sent to an endpoint at this origin.
  package func mayReach(_ endpoint: Origin) -> Bool {
    origins.map { $0.contains(endpoint) || endpoint == origin } ?? true
  }
}

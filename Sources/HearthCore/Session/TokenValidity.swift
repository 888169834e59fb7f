/// How long a token lasts, how much remaining validity a caller can ask for, and how long the session can return the
/// token without any other work.
package struct TokenValidity: Hashable, Sendable {
  /// The minimum validity for callers that do not specify one.
  private static let usual: Duration = .seconds(60)

  /// The expiry, or `nil` if it is unknown.
  private let expiresAt: Timestamp?
  /// The longest validity that a caller can ask for: the lifetime minus the margin.
  private let longest: Duration
  /// The time from which callers must ask the session, because it has work to do. `nil` if nothing is planned.
  private let until: Timestamp?

  init(of grant: Grant, _ settings: RefreshSettings, until: Timestamp? = nil) {
    expiresAt = grant.expiresAt
    longest = grant.lifetime.map { $0 - settings.margin(forLifetime: $0) } ?? .zero
    self.until = until
  }

  /// Returns whether the token can be returned now to a caller that asks for a validity of `minimum` or, if that is
  /// `nil`, for the default validity.
  package func covers(_ minimum: Duration?, at now: Timestamp) -> Bool {
    if let until, now >= until { return false }
    guard let expiresAt else { return true }
    return now < expiresAt && expiresAt - now >= Swift.min(minimum ?? Self.usual, longest)
  }
}

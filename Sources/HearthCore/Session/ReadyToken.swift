/// The current token, and how long the session can return it without any other work. A class, because each call for a
/// token would otherwise copy all of its strings' references.
package final class ReadyToken: Sendable {
  package let bearer: Bearer
  /// The access token, for programs that need it instead of the token in `bearer`.
  package let accessToken: Token
  package let idToken: Token?
  /// The configured issuer, which is used if the user is unknown.
  package let issuer: String?
  let validity: TokenValidity
  /// The time from which callers must ask the session, because it has work to do. `nil` if nothing is planned.
  let until: Timestamp?

  init(
    bearer: Bearer, accessToken: Token, idToken: Token?, issuer: String?, validity: TokenValidity, until: Timestamp?
  ) {
    (self.bearer, self.accessToken, self.idToken, self.issuer) = (bearer, accessToken, idToken, issuer)
    (self.validity, self.until) = (validity, until)
  }

  /// Returns whether the token can be returned now to a caller that asks for a validity of `minimum` or, if that is
  /// `nil`, for the default validity.
  package func satisfies(_ minimum: Duration?, at now: Timestamp) -> Bool {
    until.map { now < $0 } ?? true && validity.covers(minimum, at: now)
  }
}

/// How long a token lasts, and how much remaining validity a caller can ask for.
struct TokenValidity: Hashable, Sendable {
  /// The minimum validity for callers that do not specify one.
  private static let usual: Duration = .seconds(60)

  /// The expiry, or `nil` if it is unknown.
  private let expiresAt: Timestamp?
  /// The longest validity that a caller can ask for: the lifetime minus the margin.
  private let longest: Duration

  init(of grant: Grant, _ settings: RefreshSettings) {
    expiresAt = grant.expiresAt
    longest = grant.lifetime.map { $0 - settings.margin(forLifetime: $0) } ?? .zero
  }

  func covers(_ minimum: Duration?, at now: Timestamp) -> Bool {
    guard let expiresAt else { return true }
    return now < expiresAt && expiresAt - now >= Swift.min(minimum ?? Self.usual, longest)
  }
}

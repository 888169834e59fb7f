/// The token in use, and how long the session answers with it without doing anything else.
package struct ReadyToken: Hashable, Sendable {
  package let bearer: Bearer
  /// Both tokens of the grant. The bearer has one of them; some programs need the other one.
  package let accessToken: Token
  package let idToken: Token?
  /// The configured issuer, used if the user is not known.
  package let issuer: String?
  let validity: TokenValidity
  /// When something is due, so that the session has to be asked. `nil` if nothing is planned.
  let until: Timestamp?

  /// Whether it answers a call for a token of this validity. `nil` asks for the usual validity.
  package func satisfies(_ minimum: Duration?, at now: Timestamp) -> Bool {
    until.map { now < $0 } ?? true && validity.covers(minimum, at: now)
  }
}

/// How long a token lasts, and how much of that a caller can ask for.
struct TokenValidity: Hashable, Sendable {
  /// The validity that a caller without a minimum gets, if a token lasts that long.
  private static let usual: Duration = .seconds(60)

  /// `nil` if the token has no expiry.
  private let expiresAt: Timestamp?
  /// The most that a caller can ask for: the lifetime minus the margin.
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

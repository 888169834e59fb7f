/// The token in use, and for how long the session answers with it without anything else to do.
package struct ReadyToken: Hashable, Sendable {
  package let bearer: Bearer
  /// The configured one, where the user is not known.
  package let issuer: String?
  let validity: TokenValidity
  /// From here on something is due, and the session has to be asked; nil: nothing is planned.
  let until: Timestamp?

  /// Whether a call for a token of this validity is answered with it (nil: as long as is usual).
  package func satisfies(_ minimum: Duration?, at now: Timestamp) -> Bool {
    until.map { now < $0 } ?? true && validity.covers(minimum, at: now)
  }
}

/// How long a token lasts, and how much of that can be asked for.
struct TokenValidity: Hashable, Sendable {
  /// What a caller gets who asks for no minimum, where a token of that validity can be had.
  private static let usual: Duration = .seconds(60)

  /// Nil: the token names no expiry.
  private let expiresAt: Timestamp?
  /// More cannot be asked: the lifetime less the margin.
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

import HearthCore

/// How long tokens live. `expires_in` is in seconds (RFC 6749, section 5.1), but some providers write milliseconds or a
/// point in time.
extension TokenResponseReader {
  /// The lifetime of the access token, from the response or from the token itself.
  static func lifetime(of token: String, in grant: GrantFields, _ response: HTTPResponse) -> Duration? {
    // Zoho's expires_in is in milliseconds, next to a field that names its unit
    // (https://zoho.com.cn/writer/help/api/v1/oauth-step4.html).
    let named = ["expires_in_sec", "expires_in_seconds"].lazy.compactMap { lifetime(grant[$0]) }.first
    return named ?? lifetime(meantBy: grant.expiresIn, orNone: true, of: token, response)
      ?? lifetime(of: token, response: response)
  }

  /// The lifetime that the provider means, or `nil` if that is unclear.
  static func lifetime(
    meantBy value: JSONValue?, orNone: Bool = false, of token: String = "", _ response: HTTPResponse
  ) -> Duration? {
    guard let told = value?.asNumber, told.isFinite, told >= shortestInMilliseconds else {
      return lifetime(value, orNone: orNone)
    }
    let whole = JWTClaims(token).flatMap { claims in
      claims.expiresAt.flatMap { end in claims.issuedAt.map { end - $0 } }
    }
    func isLikeToken(_ seconds: Double) -> Bool { whole.map { abs(seconds - $0) <= $0 / 10 } ?? false }
    if isLikeToken(told) { return lifetime(value) }
    if isLikeToken(told / 1000) { return lifetime(.number(told / 1000)) }
    // A number that is a point in time within the next ten years is taken as one: as a lifetime it would be half a
    // century.
    let now = Double((response.date ?? response.receivedAt).milliseconds) / 1000
    if let left = [told, told / 1000].map({ $0 - now }).first(where: { 0 < $0 && $0 < 315_360_000 }) {
      return lifetime(.number(left))
    }
    switch unit(of: told) {
    case .seconds: return lifetime(value)
    case .milliseconds: return lifetime(.number(told / 1000))
    case nil: return nil
    }
  }

  private enum Unit {
    case seconds, milliseconds
  }

  /// A quarter of an hour in milliseconds; in seconds it would be ten days.
  private static let shortestInMilliseconds = 900_000.0
  private static let century = 3_155_760_000.0

  /// The unit in which the number is a plausible lifetime: 3,600,000 is 1,000 hours in seconds, but one hour in
  /// milliseconds. Returns `nil` if both are, such as 125 days and 3 hours.
  private static func unit(of told: Double) -> Unit? {
    func isMultiple(of number: Double) -> Bool { told.truncatingRemainder(dividingBy: number) == 0 }
    guard isMultiple(of: 60_000) else { return .seconds }
    if told > century { return told / 1000 > century ? .seconds : .milliseconds }
    guard isMultiple(of: 43_200) else { return .milliseconds }
    if isMultiple(of: 86_400_000) { return .milliseconds }
    // Whole days in seconds, but not whole hours in milliseconds.
    return isMultiple(of: 86_400) && !isMultiple(of: 3_600_000) ? .seconds : nil
  }

  /// Reads seconds, as a number or a string, up to a century. Returns `nil` if the value is not a lifetime. Zero counts
  /// only if `orNone` is true.
  static func lifetime(_ value: JSONValue?, orNone: Bool = false) -> Duration? {
    guard let seconds = value?.asNumber, seconds.isFinite, seconds > 0 || orNone && seconds == 0 else { return nil }
    return .milliseconds(Int64(min(seconds, century) * 1000))
  }

  /// The `exp` of a JWT minus the time on the server's clock, or else on this machine's; `nil` if it has passed. It is
  /// not counted from `iat`, because the token may come from a cache, but is never longer than `exp` minus `iat`,
  /// because a clock may be wrong.
  static func lifetime(of token: String, response: HTTPResponse) -> Duration? {
    guard let claims = JWTClaims(token), let expiresAt = claims.expiresAt else { return nil }
    let left = expiresAt - Double((response.date ?? response.receivedAt).milliseconds) / 1000
    let whole = claims.issuedAt.flatMap { $0 < expiresAt ? expiresAt - $0 : nil } ?? left
    return lifetime(.number(min(left, whole)))
  }
}

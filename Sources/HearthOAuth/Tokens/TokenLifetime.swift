import HearthCore

/// Reads token lifetimes. `expires_in` is in seconds (RFC 6749, section 5.1), but some providers send milliseconds or a
/// timestamp.
extension TokenResponseReader {
  /// Returns the access token's lifetime from the response or from the token, or `nil` if neither contains it.
  static func lifetime(of token: String, in grant: GrantFields, _ response: HTTPResponse) -> Duration? {
    // Zoho's expires_in is in milliseconds, so a field whose name states the unit takes precedence
    // (https://zoho.com.cn/writer/help/api/v1/oauth-step4.html).
    let named = ["expires_in_sec", "expires_in_seconds"].lazy.compactMap { lifetime(grant[$0]) }.first
    return named ?? lifetime(meantBy: grant.expiresIn, orNone: true, of: token, response)
      ?? lifetime(of: token, response: response)
  }

  /// Returns the lifetime that the provider most likely means, or `nil` if the value is not a lifetime or its unit is
  /// unclear.
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
    // Treats a number as a timestamp if it lies within the next ten years. As a lifetime in seconds, such a number
    // would exceed half a century.
    let now = Double((response.date ?? response.receivedAt).milliseconds) / 1000
    if let left = [told, told / 1000].map({ $0 - now }).first(where: { 0 < $0 && $0 < 315_360_000 }) {
      return lifetime(.number(left))
    }
    return unitsPerSecond(in: told).flatMap { lifetime(.number(told / $0)) }
  }

  /// Smaller numbers are always seconds. This number is 15 minutes in milliseconds, or about ten days in seconds.
  private static let shortestInMilliseconds = 900_000.0
  private static let century = 3_155_760_000.0

  /// Returns 1 or 1000 if the number is a plausible lifetime only in seconds or in milliseconds, or `nil` if both units
  /// are plausible. For example, 3,600,000 must mean one hour in milliseconds, because no provider means 1,000 hours.
  /// However, 10,800,000 can mean 125 days or 3 hours.
  private static func unitsPerSecond(in told: Double) -> Double? {
    func isMultiple(of number: Double) -> Bool { told.truncatingRemainder(dividingBy: number) == 0 }
    guard isMultiple(of: 60_000) else { return 1 }
    if told > century { return told / 1000 > century ? 1 : 1000 }
    guard isMultiple(of: 43_200) else { return 1000 }
    if isMultiple(of: 86_400_000) { return 1000 }
    // Whole days in seconds that are not whole hours in milliseconds are most likely meant in seconds.
    return isMultiple(of: 86_400) && !isMultiple(of: 3_600_000) ? 1 : nil
  }

  /// Parses seconds from a number or string and limits them to a century. Returns `nil` if the value is not a lifetime.
  /// Accepts zero only if `orNone` is true.
  static func lifetime(_ value: JSONValue?, orNone: Bool = false) -> Duration? {
    guard let seconds = value?.asNumber, seconds.isFinite, seconds > 0 || orNone && seconds == 0 else { return nil }
    return .milliseconds(Int64(min(seconds, century) * 1000))
  }

  /// Returns the time left until a JWT's `exp`, according to the server's clock or, if it is unknown, this machine's
  /// clock. Returns `nil` if `exp` is missing or has passed. Does not count from `iat`, because the token may come from
  /// a cache. The result never exceeds `exp` minus `iat`, because a clock may be wrong.
  static func lifetime(of token: String, response: HTTPResponse) -> Duration? {
    guard let claims = JWTClaims(token), let expiresAt = claims.expiresAt else { return nil }
    let left = expiresAt - Double((response.date ?? response.receivedAt).milliseconds) / 1000
    let whole = claims.issuedAt.flatMap { $0 < expiresAt ? expiresAt - $0 : nil } ?? left
    return lifetime(.number(min(left, whole)))
  }
}

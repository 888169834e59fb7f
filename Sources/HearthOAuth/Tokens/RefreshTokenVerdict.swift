/// What an error description says about the refresh token when the error code usually concerns the configuration. Gitea
/// sends `unauthorized_client` with "token was already used", and Authlib sends `invalid_request` with `Invalid
/// "refresh_token" in request.` (https://github.com/authlib/authlib/issues/112).
enum RefreshTokenVerdict {
  /// Codes that some providers send for an unusable refresh token. `invalid_scope` and `unsupported_grant_type` never
  /// concern the token, regardless of the description.
  private static let codes: Set = ["unauthorized_client", "invalid_client", "invalid_request"]

  /// Returns `final` if the refresh token is used up or invalid, `unclear` if either the token or the client is at
  /// fault, and `nil` if no description suggests that the refresh token cannot be used.
  static func meaning(of code: String, _ descriptions: [String]) -> ResponseRule.Meaning? {
    // Compares the code exactly, because the verdict can end a session.
    guard codes.contains(code) else { return nil }
    // A search takes microseconds per byte, and a provider can send a megabyte.
    let read = descriptions.prefix(16).lazy.filter { $0.utf8.count <= 1024 }
    return read.compactMap { meaning(of: $0, isClientsCode: code == "invalid_client") }.first
  }

  private static func meaning(of description: String, isClientsCode: Bool) -> ResponseRule.Meaning? {
    let words = description.lowercased().split { !$0.isLetter && !$0.isNumber }
    var text = " " + words.joined(separator: " ") + " "
    func contains(_ phrases: [String]) -> Bool { phrases.contains { text.contains(" \($0) ") } }
    guard !contains(excuses) else { return nil }
    for phrase in otherTokens { text = text.replacing(" \(phrase) ", with: " ") }
    let isRefreshToken = contains(["refresh token", "refreshtoken"])
    guard isRefreshToken || contains(["token"]) else { return nil }
    guard contains(spent) || isRefreshToken && contains(unknown) else { return nil }
    let isOther = contains(others) || isClientsCode && !isRefreshToken
    guard isRefreshToken || !isOther else { return nil }
    return isOther ? .unclear : .final
  }

  /// Phrases that indicate another cause: the request did not contain a token, the client is not allowed to use one, or
  /// the error concerns the client itself.
  private static let excuses = [
    "missing", "required", "must", "empty", "not provided", "not allowed", "not supported", "unsupported",
    "not permitted", "not enabled", "assertion", "jwt",
  ]

  private static let otherTokens = [
    "grant type refresh token", "grant types refresh token", "refresh token grant", "access token", "id token",
    "token endpoint", "token type", "token exchange",
  ]

  private static let spent = [
    "used", "reused", "expired", "revoked", "invalidated", "no longer", "parse", "decode", "blacklisted",
  ]

  private static let unknown = [
    "invalid", "not valid", "unknown", "not found", "does not exist", "malformed", "inactive", "not active",
    "not recognized", "unrecognized", "bad",
  ]

  /// Words that indicate that the error may concern something else.
  private static let others = [
    "client", "clients", "secret", "credentials", "application", "app", "scope", "scopes", "redirect", "uri", "url",
  ]
}

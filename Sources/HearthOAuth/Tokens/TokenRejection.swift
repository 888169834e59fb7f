import HearthCore

/// A provider's response that does not contain what Hearth has requested, such as a grant. Determines the failure to
/// report.
struct TokenRejection: Error {
  let response: HTTPResponse
  let error: ResponseError
  /// The object in the response, if any, and whether the response is a form instead of JSON.
  let document: (object: JSONValue?, isForm: Bool)
  /// Masks all secrets that were sent and all tokens that were received.
  let redactor: Redactor
  let finalErrors: Set<String>
  let rules: [ResponseRule]
  /// Whether the account's type is `json`. If so, a 401 or 403 with a JSON object ends the session, unless the error is
  /// known to be temporary.
  let isBackend: Bool
  /// What a 2xx response contains instead of a grant or an error, if anything.
  private(set) var content: String?

  /// Returns a copy of this rejection for a response that contains `content` instead of a grant.
  func containing(_ content: String) -> TokenRejection {
    var rejection = self
    rejection.content = content
    return rejection
  }

  /// Whether the response contains an error, even if its status is 2xx.
  var hasError: Bool { error.isNamed || !finalErrors.isDisjoint(with: error.codes) }

  func failure(of origin: Origin) -> RefreshFailure {
    if let content { return unexpected(content, from: origin) }
    switch response.status {
    case 300..<400:
      return unexpected(Self.redirect, from: origin)
    case 404, 405:
      return .misconfigured(
        message:
          "\(origin) has no token endpoint at the expected address (\(summary)). Check the configuration.")
    case 407, 408, 425, 429, 500...:
      return unavailable(origin)
    default:
      if isPage { return unexpected("a web page", from: origin) }
      switch meaning {
      case .final where mayBeFinal:
        return .rejected(.refreshToken, message: "\(origin) rejected the refresh token: \(summary).")
      case .accountDisabled where mayBeFinal:
        return .rejected(.accountDisabled, message: "\(origin) rejected the user's account: \(summary).")
      case .misconfigured:
        return .misconfigured(message: "\(origin) rejected the token request: \(summary). \(advice)")
      case .unavailable: return unavailable(origin)
      case .final, .accountDisabled, .unclear, nil:
        let message =
          if verdict == .unclear {
            "\(origin) rejected the refresh token or the client: \(summary). Sign in again. If that does not help, "
              + "check the account's client ID, secret and scopes."
          } else {
            "\(origin) rejected the token request: \(summary)."
          }
        return .unclear(message: message, retryAfter: response.retryAfter)
      }
    }
  }

  static let redirect = "a redirect, which Hearth does not follow (perhaps to the network's sign-in page)"
  static let page = "a web page (perhaps the network's sign-in page)"

  /// Returns the failure for a response that contains neither a grant nor an error.
  private func unexpected(_ found: String, from origin: Origin) -> RefreshFailure {
    .unavailable(
      message: "\(origin) returned HTTP \(response.status) with \(found).", retryAfter: response.retryAfter)
  }

  /// Whether the response seems to be a web page, which usually comes from a gateway or a captive portal.
  var isPage: Bool { document.object == nil && response.isPage }

  // MARK: - Meaning

  /// Whether the status allows a final rejection. A 2xx response is a rejection only if it does not contain a token.
  private var mayBeFinal: Bool {
    switch response.status {
    case 200..<300, 400, 401, 403: true
    default: false
    }
  }

  var meaning: ResponseRule.Meaning? {
    if !finalErrors.isDisjoint(with: error.codes) { return .final }
    if let rule = rules.first(where: { $0.fits(error) }) { return rule.meaning }
    let known = verdict ?? known?.meaning
    guard isBackend, response.status == 401 || response.status == 403, document.object != nil, !document.isForm else {
      return known
    }
    switch known {
    case .final, .accountDisabled, .unavailable: return known
    case .misconfigured, .unclear, nil: return .final
    }
  }

  /// The first code with a known meaning.
  private var known: (code: String, meaning: ResponseRule.Meaning)? {
    error.codes.lazy.compactMap { code in Self.meaning(of: code).map { (code, $0) } }.first
  }

  /// The verdict on the refresh token if a description blames it although the error code usually concerns the
  /// configuration. Otherwise `nil`.
  private var verdict: ResponseRule.Meaning? {
    known.flatMap {
      $0.meaning == .misconfigured ? RefreshTokenVerdict.meaning(of: $0.code, error.descriptions) : nil
    }
  }

  private static func meaning(of code: String) -> ResponseRule.Meaning? {
    // Compares codes exactly, because they end a session (RFC 6749, section 5.2). Firebase's codes are uppercase.
    switch code {
    case "invalid_grant", "interaction_required", "login_required", "consent_required", "bad_refresh_token",
      "invalid_refresh_token", "token_expired", "TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN":
      return .final
    case "user_disabled", "user_not_found", "USER_DISABLED", "USER_NOT_FOUND": return .accountDisabled
    default: break
    }
    return switch code.lowercased() {
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_request",
      "incorrect_client_credentials", "invalid_grant_type", "project_number_mismatch", "api_key_invalid":
      .misconfigured
    case "temporarily_unavailable", "server_error", "slow_down":
      .unavailable
    default:
      nil
    }
  }

  // MARK: - Messages

  private func unavailable(_ origin: Origin) -> RefreshFailure {
    .unavailable(message: "\(origin) cannot issue a token now: \(summary).", retryAfter: response.retryAfter)
  }

  /// A short description of the response with the error's code and descriptions, but without secrets or other content.
  var summary: String {
    let codes = error.codes.filter { $0 != String(response.status) }
    let code = codes.first { Self.meaning(of: $0) != nil || finalErrors.contains($0) } ?? codes.first
    // If the code is also a description, it is quoted only once.
    var parts = code.map { error.descriptions.contains($0) ? [] : [quote($0, limit: 64)] } ?? []
    for description in error.descriptions.prefix(8) where parts.count < 3 {
      let quoted = quote(description, limit: 200)
      if !parts.contains(where: { $0.contains(quoted) }) { parts.append(quoted) }
    }
    if parts.isEmpty { parts = [kind] + server }
    return (["HTTP \(response.status)"] + parts.filter { !$0.isEmpty }).joined(separator: ", ")
  }

  /// Returns a quotation for use within a sentence, without a trailing period.
  private func quote(_ text: String, limit: Int) -> String {
    // Redacts before truncating, so that the redactor sees complete tokens.
    redactor.line(TokenDetector.masked(redactor.redactedBeginning(of: text)), limit: limit).withoutStop
  }

  /// What to check if the configuration is wrong. Only OAuth clients have a client ID, a secret and scopes.
  var advice: String {
    let isOAuth = !isBackend && !["api_key_invalid", "project_number_mismatch"].contains(known?.code.lowercased())
    return isOAuth ? "Check the account's client ID, secret and scopes." : "Check the account's configuration."
  }

  /// Describes a response that contains no error.
  private var kind: String {
    if isPage { return "a web page" }
    if response.body.isEmpty { return "an empty response" }
    if document.object != nil { return "a response without an error code" }
    return response.coding == nil ? "text that is not a JSON object" : response.kindWithoutJSON
  }

  /// The server's name, which can show that the response came from a gateway instead of the provider.
  private var server: [String] {
    response.header("Server").map { ["from a server named " + quote($0, limit: 40)] } ?? []
  }
}

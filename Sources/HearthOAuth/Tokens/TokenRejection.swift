import HearthCore

/// A token endpoint's answer that holds no grant, and what can be done about it.
struct TokenRejection: Sendable {
  let answer: HTTPResponse
  let words: ErrorWords
  let document: ResponseDocument
  /// Knows every secret that was sent and every token that came.
  let redactor: Redactor
  let finalErrors: Set<String>
  let rules: [ResponseRule]
  /// A `json` account's, whose 401 and 403 are final where a JSON object says so.
  let isBackend: Bool

  /// The answer is one to a request for a grant, though its status is 2xx: it names an error.
  var isRefusalInDisguise: Bool { words.namesError || !finalErrors.isDisjoint(with: words.codes) }

  func failure(of origin: Origin) -> RefreshFailure {
    switch answer.status {
    case 300..<400:
      return nonsense("a redirect, which is not followed (is a sign-in page of the network in between?)", from: origin)
    case 404, 405:
      return .misconfigured(message: "\(origin) has no token endpoint there (\(said)). Check the configuration.")
    case 407, 408, 425, 429, 500...:
      return unavailable(origin)
    default:
      if isPage { return nonsense("a web page", from: origin) }
      switch meaning {
      case .final where mayBeFinal:
        return .rejected(.refreshToken, message: "\(origin) refused the refresh token: \(said).")
      case .accountDisabled where mayBeFinal:
        return .rejected(.accountDisabled, message: "\(origin) says that the account is disabled: \(said).")
      case .misconfigured:
        return .misconfigured(
          message: "\(origin) refuses the configuration: \(said). Check client, secret and scopes.")
      case .unavailable: return unavailable(origin)
      case .final, .accountDisabled, .unclear, nil: return unclear(origin)
      }
    }
  }

  /// The answer is none that a token endpoint gives.
  func nonsense(_ found: String, from origin: Origin) -> RefreshFailure {
    .unavailable(
      message: "\(origin) answered HTTP \(answer.status) with \(found).", retryAfter: answer.retryAfter)
  }

  /// A gateway's or a portal's, and never a token endpoint's word.
  var isPage: Bool { document.object == nil && answer.isPage }

  // MARK: - Meaning

  /// 400, 401 and 403; and 2xx, which comes here only without a token.
  private var mayBeFinal: Bool {
    switch answer.status {
    case 200..<300, 400, 401, 403: true
    default: false
    }
  }

  private var meaning: ResponseRule.Meaning? {
    if !finalErrors.isDisjoint(with: words.codes) { return .final }
    if let rule = rules.first(where: { $0.fits(words) }) { return rule.meaning }
    let known = words.codes.lazy.compactMap(Self.meaning).first
    guard isBackend, answer.status == 401 || answer.status == 403, document.object != nil, !document.isForm else {
      return known
    }
    switch known {
    case .final, .accountDisabled, .unavailable: return known
    case .misconfigured, .unclear, nil: return .final
    }
  }

  private static func meaning(of code: String) -> ResponseRule.Meaning? {
    switch code.lowercased() {
    case "invalid_grant", "interaction_required", "login_required", "consent_required", "bad_refresh_token",
      "invalid_refresh_token", "token_expired":
      .final
    case "user_disabled", "user_not_found":
      .accountDisabled
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_request",
      "incorrect_client_credentials", "invalid_grant_type", "project_number_mismatch", "api_key_invalid":
      .misconfigured
    case "temporarily_unavailable", "server_error", "slow_down":
      .unavailable
    default:
      nil
    }
  }

  // MARK: - Words

  private func unclear(_ origin: Origin) -> RefreshFailure {
    .unclear(
      message: "\(origin) refuses to refresh, for a reason that is not final: \(said).", retryAfter: answer.retryAfter)
  }

  private func unavailable(_ origin: Origin) -> RefreshFailure {
    .unavailable(message: "\(origin) cannot refresh now: \(said).", retryAfter: answer.retryAfter)
  }

  /// The answer in a few words: its error's code and descriptions, without secrets and never a piece of its body.
  private var said: String {
    let codes = words.codes.filter { $0 != String(answer.status) }
    let code = codes.first { Self.meaning(of: $0) != nil || finalErrors.contains($0) } ?? codes.first
    var spoken = code.map { [quote($0, limit: 64)] } ?? []
    for description in words.descriptions where spoken.count < 3 {
      let quoted = quote(description, limit: 200)
      if !spoken.contains(where: { $0.contains(quoted) }) { spoken.append(quoted) }
    }
    if spoken.isEmpty { spoken = [kind] + by }
    return (["HTTP \(answer.status)"] + spoken.filter { !$0.isEmpty }).joined(separator: ", ")
  }

  /// What a provider says is the end of a sentence that goes on, so it loses its stop.
  private func quote(_ text: String, limit: Int) -> String {
    // Longer than what is shown, so that a token at the cut is seen whole or, as its beginning, by the redactor.
    let redacted = redactor.redacted(Array(text.utf8.prefix(2048)), isCut: text.utf8.count > 2048)
    return redactor.line(TokenLikeness.masked(String(decoding: redacted, as: UTF8.self)), limit: limit).withoutStop
  }

  /// What an answer is that names no error.
  private var kind: String {
    if isPage { return "a web page" }
    if answer.body.isEmpty { return "an empty answer" }
    if document.object != nil { return "an answer that names no error" }
    return "a text that is no JSON"
  }

  /// Who says that it answered, for telling a gateway from the provider.
  private var by: [String] {
    answer.header("Server").map { ["from a server that calls itself " + quote($0, limit: 40)] } ?? []
  }
}

extension String {
  /// Without the full stops and blanks at its end.
  var withoutStop: String { String(reversed().drop { $0 == "." || $0.isWhitespace }.reversed()) }
}

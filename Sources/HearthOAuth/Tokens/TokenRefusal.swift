import HearthCore

/// A token endpoint's answer that holds no grant, and what can be done about it.
struct TokenRefusal: Sendable {
  /// The error that the answer names (RFC 6749, section 5.2).
  let code: String?
  /// What the answer says beside it.
  private let detail: String?
  private let answer: HTTPAnswer
  private let redactor: Redactor
  /// A `json` account's, whose codes are its own and whose 401 and 403 are final.
  var isBackend = false

  private enum Meaning {
    case rejected(RefreshFailure.Rejection)
    case misconfigured
    case unavailable
  }

  init(answer: HTTPAnswer, json: JSONValue?, redactor: Redactor) {
    self.answer = answer
    self.redactor = redactor
    let codes = json.map(Self.codes) ?? []
    code = codes.first { Self.meaning(of: $0) != nil } ?? codes.first
    detail = json.flatMap { json in
      json["error_description"]?.text ?? json["error"]?["message"]?.text ?? json["message"]?.text
        ?? json["msg"]?.text
    }
  }

  func failure(of origin: Origin) -> RefreshFailure {
    let meaning = code.flatMap(Self.meaning)
    switch answer.status {
    case 300..<400:
      return nonsense("a redirect, which is not followed (is a sign-in page of the network in between?)", from: origin)
    case 407, 408, 429, 500...:
      return unavailable(origin)
    case 404, 405:
      if !answer.isPage, let meaning { return failure(meaning, origin) }
      return .misconfigured(message: "\(origin) has no token endpoint there (\(said)). Check the configuration.")
    case 400..<500 where answer.isPage:
      return nonsense("a web page", from: origin)
    case 401 where isBackend, 403 where isBackend:
      if case .rejected(let rejection) = meaning { return failure(.rejected(rejection), origin) }
      return failure(.rejected(.refreshToken), origin)
    case 400 where code == nil || isBackend && meaning == nil:
      return .unclear(
        message: "\(origin) refused the refresh token without a readable reason (\(said)).",
        retryAfter: answer.retryAfter)
    default:
      return failure(meaning ?? .unavailable, origin)
    }
  }

  /// The answer is none that a token endpoint gives.
  func nonsense(_ found: String, from origin: Origin) -> RefreshFailure {
    .unavailable(
      message: "\(origin) answered HTTP \(answer.status) with \(found).", retryAfter: answer.retryAfter)
  }

  private func failure(_ meaning: Meaning, _ origin: Origin) -> RefreshFailure {
    switch meaning {
    case .rejected(.refreshToken):
      .rejected(.refreshToken, message: "\(origin) refused the refresh token: \(said).")
    case .rejected(.accountDisabled):
      .rejected(.accountDisabled, message: "\(origin) says that the account is disabled: \(said).")
    case .misconfigured:
      .misconfigured(message: "\(origin) refuses the configuration: \(said). Check client, secret and scopes.")
    case .unavailable:
      unavailable(origin)
    }
  }

  private func unavailable(_ origin: Origin) -> RefreshFailure {
    .unavailable(message: "\(origin) cannot refresh now: \(said).", retryAfter: answer.retryAfter)
  }

  /// The answer in a few words, without its secrets.
  private var said: String {
    let code = code.map { redactor.line($0, limit: 64) }
    let detail = detail.map { redactor.line($0) }.flatMap { $0 == code ? nil : $0 }
    var words = [code, detail].compactMap { $0 }
    if words.isEmpty {
      words = [answer.isPage ? "a web page" : redactor.line(String(decoding: answer.body, as: UTF8.self), limit: 80)]
    }
    // What a provider says is the end of a sentence that goes on.
    let spoken = words.map(\.withoutStop).filter { !$0.isEmpty }
    return (["HTTP \(answer.status)"] + spoken).joined(separator: ", ")
  }

  // MARK: - Codes

  /// What an answer may mean as its error's code, the likeliest first.
  private static func codes(in json: JSONValue) -> [String] {
    var candidates: [String?] = []
    if let error = json["error"] {
      // Google writes an object: {"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}.
      let message = error["message"]?.text?.split(separator: " ").first.map(String.init)
      candidates += [error.text, message, error["code"]?.text, error["status"]?.text]
      if case .array(let details) = error["details"] { candidates += details.map { $0["reason"]?.text } }
    }
    candidates += [json["error_code"]?.text, json["code"]?.text]
    return candidates.compactMap { $0 }
  }

  private static func meaning(of code: String) -> Meaning? {
    switch code.lowercased() {
    case "invalid_grant", "interaction_required", "login_required", "consent_required", "bad_refresh_token",
      "invalid_refresh_token", "token_expired":
      .rejected(.refreshToken)
    case "account_disabled", "user_disabled", "user_not_found":
      .rejected(.accountDisabled)
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_request",
      "incorrect_client_credentials", "invalid_grant_type", "project_number_mismatch", "api_key_invalid":
      .misconfigured
    case "temporarily_unavailable", "server_error", "slow_down":
      .unavailable
    default:
      nil
    }
  }
}

extension String {
  /// Without the full stops and blanks at its end.
  var withoutStop: String { String(reversed().drop { $0 == "." || $0.isWhitespace }.reversed()) }
}

import HearthControl
import HearthCore

/// The answers to oidc-agent's clients in oidc-agent's own words, which clients show to users and sometimes parse.
enum Answer: Hashable, Sendable {
  /// `expiresAt` is `nil` if the provider did not report it. Clients take 0 to mean the same.
  case token(Secret, issuer: String, expiresAt: Timestamp?)
  /// `info` is a text for people, or the requested data.
  case success(info: JSON? = nil)
  /// `error` is oidc-agent's own phrase, if it has one. `info` says what to do.
  case failure(_ error: String, info: String? = nil)

  static func malformed(_ reason: String) -> Answer { .failure("Bad Request: \(reason)") }

  var json: JSON {
    switch self {
    case .token(let token, let issuer, let expiresAt):
      return [
        "status": "success", "access_token": .string(token.reveal()), "issuer": .string(issuer),
        "expires_at": JSON(Int((expiresAt?.milliseconds ?? 0) / 1000)),
      ]
    case .success(let info):
      var object: JSONObject = ["status": "success"]
      if let info { object["info"] = info }
      return .object(object)
    case .failure(let error, let info):
      var object: JSONObject = ["status": "failure", "error": .string(error)]
      // Clients print it unchanged, so it ends with a newline.
      if let info { object["info"] = .string(info + "\n") }
      return .object(object)
    }
  }
}

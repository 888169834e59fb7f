package import HearthCore

/// What oidc-agent's clients are answered, in its words: they show them to people, and know some of them.
package enum OIDCAgentAnswer: Hashable, Sendable {
  /// `expiresAt`: nil where the provider has not told it, which clients read as 0.
  case token(Secret, issuer: String, expiresAt: Timestamp?)
  /// `info` is a text for people, or what was asked for.
  case success(info: JSON? = nil)
  /// `error` is one of oidc-agent's own phrases where it has one; `info` says what to do.
  case failure(_ error: String, info: String? = nil)

  package static func malformed(_ reason: String) -> OIDCAgentAnswer { .failure("Bad Request: \(reason)") }

  package var json: JSON {
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
      // Clients print it as it is.
      if let info { object["info"] = .string(info + "\n") }
      return .object(object)
    }
  }
}

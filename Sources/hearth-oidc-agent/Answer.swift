import HearthControl
import HearthCore

/// An answer in oidc-agent's own wording, because clients show the answer to users and sometimes parse it.
enum Answer: Hashable, Sendable {
  /// A token. If the expiry is unknown (`nil`), 0 is sent.
  case token(Secret, issuer: String, expiresAt: Timestamp?)
  /// `info` is text for the user, or the requested data.
  case success(info: JSON? = nil)
  case failure(Failure)

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
    case .failure(let failure):
      var object: JSONObject = ["status": "failure", "error": .string(failure.error)]
      // Clients print the text unchanged, so add the newline here.
      if let info = failure.info { object["info"] = .string(info + "\n") }
      return .object(object)
    }
  }
}

import HearthControl
import HearthCore

/// What Google's client libraries ask of an executable that has the token of another provider, which they exchange for one
/// of Google's (https://google.aip.dev/auth/4117).
struct CredentialGoogleCall: PlainCall {
  /// Where they exchange it, unless they are told otherwise; they do not say.
  static let url = "https://sts.googleapis.com/v1/token"
  /// Of the OpenID Connect kind. What else there is, is SAML.
  private static let tokenTypes = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"]

  let source: CredentialChoice
  let url: String

  func validate() {}

  func run() throws {
    let type = variable("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE") ?? Self.tokenTypes[0]
    guard Self.tokenTypes.contains(type) else {
      throw CommandFailure(
        .usage,
        "The subject_token_type \(type) cannot be had of Hearth: set \(Self.tokenTypes[0]) or \(Self.tokenTypes[1]).")
    }
    guard let bearer = try source.token(for: [url])?.bearer else {
      throw CommandFailure(
        .failed, "No account has the origin of \(url) among its api_origins; the token goes nowhere else.")
    }
    var answer: JSONObject = [
      "version": 1, "success": true, "token_type": .string(type), "id_token": .string(bearer.token.secret.reveal()),
    ]
    if let expiresAt = bearer.expiresAt { answer["expiration_time"] = JSON(Int(expiresAt.milliseconds / 1000)) }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

import HearthControl
import HearthCore

/// Answers Google's client libraries with a token that they exchange for a Google token
/// (https://google.aip.dev/auth/4117). The libraries read errors as JSON from stdout, but only if the program exits
/// with 0. Some libraries also parse stderr, so nothing is printed there.
struct CredentialGoogleCall: HelperCall {
  /// The URL at which the libraries exchange the token by default. They do not report which URL they use.
  static let url = "https://sts.googleapis.com/v1/token"
  /// The token types for OpenID Connect. All others are for SAML.
  private static let tokenTypes = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"]

  let source: CredentialChoice
  let url: String

  func validate() {}

  func say(_ failure: CommandFailure) -> CommandFailure? {
    let answer: JSONObject = [
      "version": 1, "success": false, "code": .string("\(failure.status)"),
      "message": .string((failure.message ?? "").shown()),
    ]
    Output(isJSON: true).line(JSON.object(answer).description)
    return nil
  }

  func answer() throws {
    let type = variable("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE") ?? Self.tokenTypes[0]
    guard Self.tokenTypes.contains(type) else {
      throw CommandFailure(
        .usage,
        "Hearth does not support the subject_token_type \(type). Use \(Self.tokenTypes[0]) or \(Self.tokenTypes[1]).")
    }
    guard let given = try source.token(for: [url]) else {
      throw CommandFailure(
        .failed,
        "No account has the origin of \(url) in its api_origins. Add it with \"hearthctl account set NAME --add "
          + "api_origins URL\".")
    }
    let token = given.bearer.token.secret.reveal()
    // Do not give Google an opaque token, because Google would refuse it.
    guard token.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
      throw CommandFailure(
        .failed,
        "Google requires a JWT, but the token of \(given.account) is not one. Run \"hearthctl account set "
          + "\(given.account) bearer id_token\".")
    }
    var answer: JSONObject = [
      "version": 1, "success": true, "token_type": .string(type), "id_token": .string(token),
    ]
    if let expiresAt = given.bearer.expiresAt { answer["expiration_time"] = JSON(Int(expiresAt.milliseconds / 1000)) }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

import HearthControl
import HearthCore

/// What Google's client libraries ask of an executable that has the token of another provider, which they exchange for one
/// of Google's (https://google.aip.dev/auth/4117). They read a failure from standard output, as JSON, and only from a
/// program that exits with 0. Some mix standard error into it, so nothing is said there.
struct CredentialGoogleCall: HelperCall {
  /// Where the libraries exchange the token by default. They do not say which address they use.
  static let url = "https://sts.googleapis.com/v1/token"
  /// The types of OpenID Connect. What else there is, is SAML.
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
        "The subject_token_type \(type) cannot be had of Hearth: set \(Self.tokenTypes[0]) or \(Self.tokenTypes[1]).")
    }
    guard let given = try source.token(for: [url]) else {
      throw CommandFailure(
        .failed, "No account has the origin of \(url) among its api_origins; the token goes nowhere else.")
    }
    let token = given.bearer.token.secret.reveal()
    // Google would refuse an opaque one, which is more than it may know.
    guard token.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
      throw CommandFailure(
        .failed, "The token of \(given.account) is no JWT, and Google takes no other: set bearer = \"id_token\".")
    }
    var answer: JSONObject = [
      "version": 1, "success": true, "token_type": .string(type), "id_token": .string(token),
    ]
    if let expiresAt = given.bearer.expiresAt { answer["expiration_time"] = JSON(Int(expiresAt.milliseconds / 1000)) }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

import HearthControl
import HearthCore

/// Answers Bazel and similar programs (https://github.com/EngFlow/credential-helper-spec). These programs show the
/// helper's stderr and fail unless the helper exits with 0. An answer without headers is not a failure.
struct CredentialBazelCall: HelperCall {
  let source: CredentialChoice
  let operation: String

  func validate() {}

  func answer() throws {
    guard operation == "get" else { throw CommandFailure(.failed, "Unknown credential action `\(operation)`.") }
    guard let url = (try? JSON(parsing: Input.all()))?["uri"]?.string else {
      throw CommandFailure(.usage, #"Standard input must be a JSON object such as {"uri": "https://…"}."#)
    }
    var answer: JSONObject = ["headers": [:]]
    if let bearer = try source.token(for: [url])?.bearer {
      answer["headers"] = ["Authorization": [.string(bearer.headerValue)]]
      // Without an expiry, Bazel caches the headers for half an hour.
      if let expiresAt = bearer.expiresAt { answer["expires"] = .string(expiresAt.description) }
    }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

extension Bearer {
  /// The value for an `Authorization` header (RFC 6750, section 2.1).
  var headerValue: String { "\(type) \(token.secret.reveal())" }
}

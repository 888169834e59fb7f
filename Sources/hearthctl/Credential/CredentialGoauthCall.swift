import HearthControl
import HearthCore

/// go's request to a `GOAUTH` command ("go help goauth"): once without a URL, and again with the URL of each request
/// that a server refused. go shows the command's standard error only with "go -x", and continues without a token.
struct CredentialGoauthCall: HelperCall {
  let source: CredentialChoice
  /// The server that gets the token with the first request, before it refuses one.
  let server: String?
  let url: String?

  func validate() {}

  func answer() throws {
    // The refused response, which go passes on standard input, does not show whether a token was refused, and which.
    guard let url = url ?? server, let origin = (try? HTTPURL(url))?.origin,
      let token = try source.token(for: [url])
    else { return }
    Output(isJSON: false).line("\(origin)\n\nAuthorization: \(token.bearer.headerValue)\n")
  }
}

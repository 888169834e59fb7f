import HearthControl
import HearthCore

/// What go asks of a `GOAUTH` command ("go help goauth"): once without a URL, and again with the URL of each request that a
/// server has refused. go keeps the command's standard error for "go -x", and then goes on without a token.
struct CredentialGoauthCall: HelperCall {
  let source: CredentialChoice
  /// The server that go may send a token to before that server refuses a request.
  let server: String?
  let url: String?

  func validate() {}

  func answer() throws {
    // The refused response, which go passes on standard input, does not say which token was refused, if any.
    guard let url = url ?? server, let origin = (try? HTTPURL(url))?.origin,
      let token = try source.token(for: [url])
    else { return }
    Output(isJSON: false).line("\(origin)\n\nAuthorization: \(token.bearer.headerValue)\n")
  }
}

import HearthControl
import HearthCore

/// Answers go's `GOAUTH` ("go help goauth"). go runs the command without a URL at first, and then with the URL of each
/// request that a server refused. If the command fails, go continues without a token, and shows the command's stderr
/// only with "go -x".
struct CredentialGoauthCall: HelperCall {
  let source: CredentialChoice
  /// The server to send the token to with the first request, when go does not pass a URL.
  let server: String?
  let url: String?

  func validate() {}

  func answer() throws {
    // Ignore the server's response, which go passes on stdin, because it does not show which token was refused, if any.
    guard let url = url ?? server, let origin = (try? HTTPURL(url))?.origin,
      let token = try source.token(for: [url])
    else { return }
    Output(isJSON: false).line("\(origin)\n\nAuthorization: \(token.bearer.headerValue)\n")
  }
}

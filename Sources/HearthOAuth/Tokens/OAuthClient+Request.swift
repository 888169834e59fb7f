import FoundationEssentials
import HearthCore

extension OAuthClient {
  /// A request that names the client: with HTTP Basic where it has a secret (RFC 6749, section 2.3.1), else in the
  /// body. Brings also the secrets in it, for whoever reads the answer.
  func request(
    _ fields: [(String, String)], to url: HTTPURL, of endpoints: ProviderEndpoints
  ) async throws(RefreshFailure) -> (request: HTTPSender.Request, secrets: [Secret]) {
    guard let secret = try await secret?.read() else {
      return (.form(fields + [("client_id", id)], to: url), [])
    }
    if endpoints.takesSecretInBody {
      let body = fields + [("client_id", id), ("client_secret", secret.reveal())]
      return (.form(body, to: url), [secret])
    }
    let pair = FormBody.encode(id) + ":" + FormBody.encode(secret.reveal())
    let basic = Data(pair.utf8).base64EncodedString()
    return (.form(fields, to: url, authorization: "Basic " + basic), [secret, Secret(basic)])
  }

  var scopeField: [(String, String)] {
    scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
  }
}

import FoundationEssentials

/// A request to the authorization endpoint (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2.1). Only the
/// code flow with PKCE and S256 is supported (RFC 9700, section 2.1.1).
struct AuthorizationRequest: Codable, Hashable, Sendable {
  enum Prompt: String, CaseIterable, Codable, Sendable {
    case none, login, consent, selectAccount = "select_account"
  }

  let clientID: String
  let redirectURI: RedirectURI
  let scope: String
  let state: String?
  let nonce: String?
  let codeChallenge: String
  let prompts: Set<Prompt>
  let loginHint: String?

  var asksForLogin: Bool { prompts.contains(.login) || prompts.contains(.selectAccount) }

  /// An error that the browser reports to the client.
  struct Refusal: Error {
    let error: ErrorBody
    let redirectURI: RedirectURI
    let state: String?
  }

  /// Parses a request. `wantedClient` is the only client to accept, or `nil` to accept any client. Throws a
  /// `Refusal`, or an `ErrorBody` for the user if the browser cannot be redirected (RFC 6749, section 4.1.2.1).
  init(_ fields: [String: String], wantedClient: String?) throws {
    guard let client = fields["client_id"], !client.isEmpty, wantedClient == nil || client == wantedClient else {
      throw ErrorBody("invalid_request", "The client is unknown.")
    }
    guard let address = fields["redirect_uri"], let redirectURI = RedirectURI(address) else {
      throw ErrorBody(
        "invalid_request", "The redirect_uri is missing, or is not an address such as http://127.0.0.1:PORT/PATH.")
    }
    func refusal(_ error: String, _ description: String) -> Refusal {
      Refusal(error: ErrorBody(error, description), redirectURI: redirectURI, state: fields["state"])
    }
    guard let responseType = fields["response_type"] else {
      throw refusal("invalid_request", "The response_type is missing.")
    }
    guard responseType == "code" else {
      throw refusal("unsupported_response_type", "The only supported response_type is \"code\".")
    }
    guard fields["response_mode"] ?? "query" == "query" else {
      throw refusal("invalid_request", "The only supported response_mode is \"query\".")
    }
    guard fields["request"] == nil else {
      throw refusal("request_not_supported", "Request objects are not supported.")
    }
    guard let challenge = fields["code_challenge"], fields["code_challenge_method"] == "S256",
      challenge.utf8.count == 43
    else { throw refusal("invalid_request", "A code_challenge with the code_challenge_method \"S256\" is required.") }
    let words = (fields["prompt"] ?? "").split(separator: " ").map(String.init)
    prompts = Set(words.compactMap(Prompt.init(rawValue:)))
    guard prompts.count == Set(words).count, !prompts.contains(.none) || prompts.count == 1 else {
      throw refusal("invalid_request", "This prompt is not supported.")
    }
    clientID = client
    self.redirectURI = redirectURI
    scope = fields["scope"] ?? ""
    state = fields["state"]
    nonce = fields["nonce"]
    codeChallenge = challenge
    loginHint = fields["login_hint"]
  }
}

/// Pushed authorization requests (RFC 9126). Each can be used once, within a minute.
struct PushedRequests: Codable, Sendable {
  static let lifetime: Double = 60

  private struct Entry: Codable, Sendable {
    let request: AuthorizationRequest
    let expiresAt: Date
  }

  private var entries: [String: Entry] = [:]

  mutating func add(_ request: AuthorizationRequest, at now: Date) -> String {
    let uri = "urn:ietf:params:oauth:request_uri:" + randomToken("par")
    entries[uri] = Entry(request: request, expiresAt: now.addingTimeInterval(Self.lifetime))
    return uri
  }

  /// Removes a request and returns it. Returns `nil` if the request is unknown, expired or from another client.
  mutating func take(_ uri: String, clientID: String?, at now: Date) -> AuthorizationRequest? {
    guard let entry = entries[uri], entry.request.clientID == clientID else { return nil }
    entries[uri] = nil
    return now < entry.expiresAt ? entry.request : nil
  }
}

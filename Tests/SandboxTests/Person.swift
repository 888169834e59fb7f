import Crypto
import FoundationEssentials
import HTTPTypes

@testable import hearth_sandbox

/// A person's browser with its cookie, and the client that sent it.
struct Person {
  static let redirectURI = "http://127.0.0.1:41234/callback"
  static let verifier = "a-verifier-of-forty-three-or-more-characters-0123456789"
  static let challenge = base64URL(Data(SHA256.hash(data: Data(verifier.utf8))))

  let sandbox: Harness
  private var cookie: String?

  init(at sandbox: Harness) {
    self.sandbox = sandbox
  }

  /// The fields of a request that nothing is wrong with.
  static let request = [
    "response_type": "code", "client_id": "app", "redirect_uri": redirectURI, "scope": "openid offline_access",
    "state": "s&1", "nonce": "n1", "code_challenge": challenge, "code_challenge_method": "S256",
  ]

  static func form(_ fields: [String: String]) -> String {
    fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(percentEncoded($0.value))" }.joined(separator: "&")
  }

  mutating func open(_ path: String) async throws -> Harness.Answer {
    try await follow(try await sandbox.call(.get, path, headers: headers))
  }

  /// `changing`: fields that are set, or left out where they are nil.
  mutating func authorize(changing changes: [String: String?] = [:]) async throws -> Harness.Answer {
    var fields = Self.request
    for (name, value) in changes { fields[name] = value }
    return try await open("/authorize?" + Self.form(fields))
  }

  mutating func logIn(_ page: Harness.Answer, as name: String = "ada", password: String = "password") async throws
    -> Harness.Answer
  {
    try await submit(page, ["username": name, "password": password])
  }

  mutating func decide(_ page: Harness.Answer, _ decision: String = "allow") async throws -> Harness.Answer {
    try await submit(page, ["decision": decision])
  }

  /// All of it; what the client is sent, by name.
  mutating func signIn(changing changes: [String: String?] = [:]) async throws -> [String: String] {
    let login = try await authorize(changing: changes)
    return Self.sent(try await decide(try await logIn(login)))
  }

  /// What the token endpoint says to the code.
  func redeem(_ code: String?, changing changes: [String: String?] = [:]) async throws -> Harness.Answer {
    var fields: [String: String] = [
      "grant_type": "authorization_code", "code": code ?? "", "redirect_uri": Self.redirectURI, "client_id": "app",
      "code_verifier": Self.verifier,
    ]
    for (name, value) in changes { fields[name] = value }
    return try await sandbox.token(Self.form(fields))
  }

  /// The fields that the browser takes back to the client; none where it does not go there.
  static func sent(_ answer: Harness.Answer) -> [String: String] {
    guard let location = answer.headers[.location], location.hasPrefix(redirectURI + "?"),
      let items = URLComponents(string: location)?.queryItems
    else { return [:] }
    return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
  }

  mutating func submit(_ page: Harness.Answer, _ fields: [String: String]) async throws -> Harness.Answer {
    guard let action = page.body.firstMatch(of: /<form method="post" action="([^"]*)">/)?.output.1 else { return page }
    var fields = fields
    for match in page.body.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
      fields[String(match.output.1)] = String(match.output.2)
    }
    return try await follow(
      try await sandbox.call(.post, String(action), headers: headers, body: Self.form(fields)))
  }

  private var headers: HTTPFields { cookie.map { [.cookie: $0] } ?? [:] }

  /// Goes on to the sandbox's own pages, and stays where the client's address is next.
  private mutating func follow(_ answer: Harness.Answer) async throws -> Harness.Answer {
    if let set = answer.headers[.setCookie] { cookie = String(set.prefix { $0 != ";" }) }
    guard let location = answer.headers[.location], location.hasPrefix("/") else { return answer }
    return try await open(location)
  }
}

extension Harness.Answer {
  var asksForLogin: Bool { body.contains(#"action="/login""#) }
  var asksForConsent: Bool { body.contains(#"action="/consent""#) }
}

extension Harness {
  struct KeySet: Decodable {
    let keys: [SigningKey.PublicKey]
  }

  func keys() async throws -> [SigningKey.PublicKey] {
    try await call(.get, "/jwks").decoded(as: KeySet.self).keys
  }

  func fault(_ json: String) async throws {
    _ = try await call(.post, "/__fault", body: json)
  }
}

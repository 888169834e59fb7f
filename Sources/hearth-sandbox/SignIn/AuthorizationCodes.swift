import Crypto
import FoundationEssentials

/// Issues authorization codes. Each is valid for one use within a minute, and only with the client, redirect URI and
/// challenge of its request (RFC 6749, section 4.1.2; RFC 7636, section 4.6).
struct AuthorizationCodes: Codable, Sendable {
  static let lifetime: Double = 60

  struct Code: Codable, Sendable {
    let request: AuthorizationRequest
    let login: Login
    let expiresAt: Date
    var isUsed = false
    var family: Int?
  }

  private var codes: [String: Code] = [:]

  mutating func issue(for request: AuthorizationRequest, by login: Login, at now: Date) -> String {
    let code = randomToken("ac")
    codes[code] = Code(request: request, login: login, expiresAt: now.addingTimeInterval(Self.lifetime))
    return code
  }

  /// Returns the code of a token request. If the code was already used, its tokens must be revoked (RFC 6749, section
  /// 4.1.2).
  mutating func redeem(_ fields: [String: String], clientID: String?, at now: Date) throws -> Code {
    func rejection(_ description: String) -> ErrorBody { ErrorBody("invalid_grant", description) }
    guard let text = fields["code"], let code = codes[text] else { throw rejection("The code is unknown.") }
    guard !code.isUsed else { return code }
    guard now < code.expiresAt else { throw rejection("The code has expired.") }
    guard code.request.clientID == clientID else { throw rejection("The code belongs to another client.") }
    guard code.request.redirectURI.text == fields["redirect_uri"] else {
      throw rejection("The redirect_uri differs from the one in the authorization request.")
    }
    guard let verifier = fields["code_verifier"],
      base64URL(Data(SHA256.hash(data: Data(verifier.utf8)))) == code.request.codeChallenge
    else { throw rejection("The code_verifier is missing or does not match the code_challenge.") }
    codes[text]?.isUsed = true
    return code
  }

  /// Records the family issued for a code, in case the code is used again.
  mutating func redeemed(_ code: String?, into family: Int) {
    if let code { codes[code]?.family = family }
  }
}

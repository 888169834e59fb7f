import Crypto
import FoundationEssentials

/// Issues authorization codes. Each is valid for one use within a minute, and only with the client, redirect URI and
/// challenge of its request (RFC 6749, section 4.1.2; RFC 7636, section 4.6).
struct AuthorizationCodes: Codable, Sendable {
  static let lifetime: Double = 60

  private struct Code: Codable, Sendable {
    let request: AuthorizationRequest
    let login: Login
    let expiresAt: Date
    var isUsed = false
    var family: Int?
  }

  enum Outcome: Sendable {
    case accepted(AuthorizationRequest, Login)
    /// The code was used before, so its tokens must be revoked (RFC 6749, section 4.1.2).
    case replayed(family: Int?)
    case rejected(String)
  }

  private var codes: [String: Code] = [:]

  mutating func issue(for request: AuthorizationRequest, by login: Login, at now: Date) -> String {
    let code = RandomText.token("ac")
    codes[code] = Code(request: request, login: login, expiresAt: now.addingTimeInterval(Self.lifetime))
    return code
  }

  mutating func redeem(_ fields: [String: String], clientID: String?, at now: Date) -> Outcome {
    guard let text = fields["code"], let code = codes[text] else { return .rejected("The code is unknown.") }
    guard !code.isUsed else { return .replayed(family: code.family) }
    guard now < code.expiresAt else { return .rejected("The code has expired.") }
    guard code.request.clientID == clientID else { return .rejected("The code belongs to another client.") }
    guard code.request.redirectURI.text == fields["redirect_uri"] else {
      return .rejected("The redirect_uri differs from the one in the authorization request.")
    }
    guard let verifier = fields["code_verifier"],
      base64URL(Data(SHA256.hash(data: Data(verifier.utf8)))) == code.request.codeChallenge
    else { return .rejected("The code_verifier is missing or does not match the code_challenge.") }
    codes[text]?.isUsed = true
    return .accepted(code.request, code.login)
  }

  /// Records the family issued for a code, in case the code is used again.
  mutating func redeemed(_ code: String?, into family: Int) {
    if let code { codes[code]?.family = family }
  }
}

import HearthCore

@testable import HearthOAuth

extension FuzzTarget {
  private static let client = "hearth"

  /// An ID token on the first line, followed by its provider's key set.
  static func readIDToken(_ bytes: [UInt8]) async throws {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let text = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let keys = parts.count > 1 ? publicKeys(Array(parts[1])) : []
    var accepted: IDToken?
    do {
      let token = try IDToken(Secret(text))
      for key in keys.prefix(4) where key.fits(token.algorithm) {
        _ = await key.verifies(token.signature, of: token.signedBytes, by: token.algorithm)
      }
      try claims.check(token)
      accepted = token
    } catch {
      // The error has a fixed text, and repeats nothing of the token except the name of an algorithm.
      guard "\(error)".utf8.allSatisfy({ (0x20...0x7E).contains($0) }), "\(error)".utf8.count < 100 else {
        throw Wrong(description: "What is wrong with an ID token is told in the token's own words.")
      }
    }
    if let accepted { try expectOwn(accepted) }
  }

  private static func publicKeys(_ bytes: [UInt8]) -> [PublicKey] {
    guard case .array(let values)? = JSONValue(parsing: bytes)?["keys"] else { return [] }
    return values.compactMap { PublicKey($0) }
  }

  private static var claims: IDTokenClaims {
    IDTokenClaims(
      issuer: IssuerName("https://id.example.com"), client: client, nonce: Secret("n-0S6_WzA2Mj"),
      isNonceRequired: true, accessToken: Secret("at_0123456789"), maximumAge: 300,
      now: Timestamp(milliseconds: 1_700_000_000_000))
  }

  private static func expectOwn(_ token: IDToken) throws {
    var audiences = [token.claims["aud"]]
    if case .array(let names)? = token.claims["aud"] { audiences = names.map { $0 } }
    guard audiences.contains(.string(client)), token.claims["nonce"] == .string("n-0S6_WzA2Mj") else {
      throw Wrong(description: "An ID token for another client, or of another sign-in, is accepted.")
    }
  }
}

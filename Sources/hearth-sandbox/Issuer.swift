import Crypto
import FoundationEssentials

/// Signs ID tokens: JWTs with HS256 and the client's secret (OIDC Core, sections 2 and 10.1).
struct Issuer: Sendable {
  let url: String
  let secret: String

  private struct Claims: Encodable {
    let iss, sub, aud, jti: String
    let iat, exp: Int
  }

  func idToken(subject: String, audience: String?, at now: Date, expiresAt: Date) -> String {
    let claims = Claims(
      iss: url, sub: subject, aud: audience ?? "hearth", jti: UUID().uuidString,
      iat: Int(now.timeIntervalSince1970), exp: Int(expiresAt.timeIntervalSince1970.rounded(.up)))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let payload = (try? encoder.encode(claims)) ?? Data()
    let signed = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + base64URL(payload)
    let mac = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
    return signed + "." + base64URL(Data(mac))
  }
}

private func base64URL(_ data: Data) -> String {
  data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

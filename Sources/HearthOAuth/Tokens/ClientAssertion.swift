import Crypto
import HearthCore

/// A JWT that authenticates a client (RFC 7523, section 3; OpenID Connect Core, section 9).
struct ClientAssertion {
  /// The lifetime in seconds. Each request has its own assertion, so the lifetime has to cover only clock differences.
  static let lifetime: Int64 = 300

  let issuer: String
  let subject: String
  let audience: String

  /// Returns the signed assertion. `offered` lists the algorithms that the provider accepts, or is `nil` if they are
  /// unknown.
  func signed(
    with key: ClientKey, from files: any FileSystem, offered: [String]?, at now: Timestamp
  ) async throws(RefreshFailure) -> Secret {
    let signer = try await key.signer(from: files)
    let place = key.file.place
    guard let algorithm = signer.algorithms.first(where: { offered?.contains($0) ?? true }) else {
      let own = signer.algorithms.joined(separator: " or ")
      let wanted = Redactor(EmptyCollection<Secret>()).line((offered ?? []).joined(separator: ", "))
      throw .misconfigured(
        message:
          "The client key in \(place) signs with \(own), but the provider accepts only \(wanted). Use another key.")
    }
    var header: [String: JSONValue] = ["alg": .string(algorithm), "typ": .string("JWT")]
    if let id = key.id { header["kid"] = .string(id) }
    if let thumbprint = try await key.thumbprint(from: files) { header["x5t#S256"] = .string(thumbprint) }
    let issuedAt = now.milliseconds / 1000
    let claims: [String: JSONValue] = [
      "iss": .string(issuer), "sub": .string(subject), "aud": .string(audience), "iat": .integer(issuedAt),
      "exp": .integer(issuedAt + Self.lifetime), "jti": .string(Base64URL.random(bytes: 16)),
    ]
    let input = [header, claims].map { Base64URL.encode(JSONValue.object($0).serialized) }.joined(separator: ".")
    do {
      return Secret(input + "." + Base64URL.encode(try signer.sign(Array(input.utf8), algorithm: algorithm)))
    } catch {
      throw .misconfigured(message: "Cannot sign with the client key in \(place): \(error).")
    }
  }
}

extension ClientKey {
  fileprivate func signer(from files: any FileSystem) async throws(RefreshFailure) -> SigningKey {
    let text = try await file.text(from: files)
    do {
      return try SigningKey(pem: text)
    } catch {
      throw .misconfigured(message: "Cannot use the client key in \(file.place): \(error).")
    }
  }

  /// Returns the SHA-256 of the key's certificate in DER form (`x5t#S256`; RFC 7515, section 4.1.8), or `nil` if the
  /// account does not configure a certificate.
  fileprivate func thumbprint(from files: any FileSystem) async throws(RefreshFailure) -> String? {
    guard let certificate else { return nil }
    let text = try await certificate.text(from: files)
    guard let der = PEM.blocks(in: text).first(where: { $0.label == "CERTIFICATE" })?.bytes, !der.isEmpty else {
      throw .misconfigured(
        message: "Cannot use the client certificate \(certificate.path), because the file contains no PEM certificate.")
    }
    return Base64URL.encode(Array(SHA256.hash(data: der)))
  }
}

import Crypto
import HearthCore

extension ClientKey {
  /// The lifetime in seconds. Each request has its own assertion, so the lifetime has to cover only clock differences.
  private static let lifetime: Int64 = 300

  /// Returns a signed JWT that authenticates a client (RFC 7523, section 3; OpenID Connect Core, section 9).
  /// `algorithms` lists the algorithms that the provider accepts, or is `nil` if they are unknown.
  func assertion(
    by issuer: String, about subject: String, for audience: String, in algorithms: [String]?,
    from files: any FileSystem, at now: Timestamp
  ) async throws(RefreshFailure) -> Secret {
    let place = file.place
    let text = try await file.text(from: files)
    let signer: SigningKey
    do {
      signer = try SigningKey(pem: text)
    } catch {
      throw .misconfigured(message: "Cannot use the client key in \(place): \(error).")
    }
    guard let algorithm = signer.algorithms.first(where: { algorithms?.contains($0) ?? true }) else {
      let own = signer.algorithms.joined(separator: " or ")
      let wanted = Redactor(EmptyCollection<Secret>()).line((algorithms ?? []).joined(separator: ", "))
      throw .misconfigured(
        message:
          "The client key in \(place) signs with \(own), but the provider accepts only \(wanted). Use another key.")
    }
    var header: [String: JSONValue] = ["alg": .string(algorithm), "typ": .string("JWT")]
    if let id { header["kid"] = .string(id) }
    if let thumbprint = try await thumbprint(from: files) { header["x5t#S256"] = .string(thumbprint) }
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

  /// Returns the SHA-256 of the key's certificate in DER form (`x5t#S256`; RFC 7515, section 4.1.8), or `nil` if the
  /// account does not configure a certificate.
  private func thumbprint(from files: any FileSystem) async throws(RefreshFailure) -> String? {
    guard let certificate else { return nil }
    let text = try await certificate.text(from: files)
    guard let der = PEM.blocks(in: text).first(where: { $0.label == "CERTIFICATE" })?.bytes, !der.isEmpty else {
      throw .misconfigured(
        message: "Cannot use the client certificate \(certificate.path), because the file contains no PEM certificate.")
    }
    return Base64URL.encode(Array(SHA256.hash(data: der)))
  }
}

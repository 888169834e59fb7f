import Crypto
import HearthCore

/// Validates the ID tokens that come with a sign-in (OpenID Connect Core, section 3.1.3.7).
struct IDTokenValidator: Sendable {
  /// What the ID token of one sign-in must contain.
  struct Expectation {
    /// The nonce of the request, if one was sent.
    let nonce: Secret?
    /// Whether the provider must send an ID token (OpenID Connect Core, section 3.1.3.3).
    let isRequired: Bool
    /// `max_age` of the authorization request, in seconds, if it has one (OpenID Connect Core, section 3.1.2.1).
    var maximumAge: Double?
  }

  let exchange: TokenExchange
  let client: OAuthClient
  /// The issuer, unless the account names its provider's endpoints.
  let issuer: IssuerName?
  let keys: PublicKeySet

  /// Requests the keys, unless they are known already.
  func prepare(for endpoints: ProviderEndpoints) async throws(RefreshFailure) {
    if let url = endpoints.keys { _ = try await keys.keys(at: url) }
  }

  /// The user whom the ID token names, or `nil` if there is no ID token and none is required.
  func subject(
    of response: TokenResponse, expecting expected: Expectation, at endpoints: ProviderEndpoints
  ) async throws(SignInFailure) -> Subject? {
    do throws(IDTokenFault) {
      guard let secret = response.idToken?.secret else {
        if expected.isRequired { throw .absent }
        return nil
      }
      let token = try IDToken(secret)
      try await checkSignature(of: token, endpoints)
      let now = exchange.sender.clock.now() + (response.skew ?? .zero)
      let claims = IDTokenClaims(
        issuer: issuer, client: client.id, nonce: expected.nonce, isNonceRequired: issuer != nil,
        accessToken: response.accessToken.secret, maximumAge: expected.maximumAge, now: now,
        clock: response.skew == nil ? .machine : .provider, audiences: exchange.audiences)
      try claims.check(token)
      guard let id = token.claims["sub"]?.name else { throw .noSubject }
      return token.claims["iss"]?.text.map { Subject(issuer: $0, id: id) } ?? exchange.issuer.subject(id)
    } catch {
      throw .failed(
        message: "The ID token from \(response.origin) \(error.text), so it was not accepted. Sign in again.")
    }
  }

  /// Checks the signature. A token that came over TLS from the token endpoint itself needs no signature by a known key
  /// (rule 6), so this is skipped if the provider publishes no keys. A token with `alg` none is never accepted.
  private func checkSignature(of token: IDToken, _ endpoints: ProviderEndpoints) async throws(IDTokenFault) {
    switch token.algorithm {
    case let name where name.lowercased() == "none": throw .unsigned
    case "HS256":
      guard let secret = try await sharedSecret() else {
        if endpoints.keys == nil { return }
        throw .noSharedSecret
      }
      // jwt-kit's function would stop the process in a debug build if the secret is shorter than the hash. Providers
      // choose the secret, and the key is never one of the provider's public keys.
      let key = SymmetricKey(data: Array(secret.reveal().utf8))
      guard HMAC<SHA256>.isValidAuthenticationCode(token.signature, authenticating: token.signedBytes, using: key)
      else { throw .forged }
    case let name where PublicKey.knows(name):
      if let url = endpoints.keys { try await checkSignature(of: token, withKeysAt: url) }
    default: throw .algorithm(token.algorithm)
    }
  }

  private func checkSignature(of token: IDToken, withKeysAt url: HTTPURL) async throws(IDTokenFault) {
    var wasTried = false
    // The second time, the keys are requested again, in case the provider has a new one.
    for isFresh in [false, true] {
      let candidates = token.candidates(in: try await published(at: url, isFresh: isFresh))
      for key in candidates where await key.verifies(token.signature, of: token.signedBytes, by: token.algorithm) {
        return
      }
      wasTried = wasTried || !candidates.isEmpty
      // This is the key that the token names, whatever is published by now.
      if candidates.contains(where: { $0.id != nil && $0.id == token.keyID }) { break }
    }
    throw wasTried ? .forged : .unknownKey
  }

  private func published(at url: HTTPURL, isFresh: Bool) async throws(IDTokenFault) -> [PublicKey] {
    do {
      return isFresh ? try await keys.fetch(url) : try await keys.keys(at: url)
    } catch {
      throw .keys(error.message)
    }
  }

  private func sharedSecret() async throws(IDTokenFault) -> Secret? {
    do {
      return try await client.sharedSecret?.secret(from: exchange.files)
    } catch {
      throw .keys(error.message)
    }
  }
}

extension IDToken {
  /// The keys that may have signed the token: the one that it names or, if it names none, each one of its algorithm
  /// (OpenID Connect Core, section 10.1). A key without a name always counts: providers with a single key often publish
  /// it so.
  fileprivate func candidates(in keys: [PublicKey]) -> [PublicKey] {
    // No provider has so many keys at once, and trying each one takes time.
    Array(keys.filter { $0.fits(algorithm) && (keyID == nil || $0.id == nil || $0.id == keyID) }.prefix(32))
  }
}

import Crypto
import HearthCore

/// Validates the ID tokens received at sign-in (OpenID Connect Core, section 3.1.3.7).
struct IDTokenValidator: Sendable {
  let exchange: TokenExchange
  let client: OAuthClient
  /// The issuer, or `nil` if the account configures the provider's endpoints.
  let issuer: IssuerName?
  let keys: PublicKeySet

  /// Fetches the keys unless they are cached.
  func prepare(for endpoints: ProviderEndpoints) async throws(RefreshFailure) {
    if let url = endpoints.keys { _ = try await keys.keys(at: url) }
  }

  /// Returns the user named in the ID token, or `nil` if the token is missing and not required (OpenID Connect Core,
  /// section 3.1.3.3). `maximumAge` is the authorization request's `max_age`, in seconds, if any.
  func subject(
    of response: TokenResponse, nonce: Secret?, isRequired: Bool, maximumAge: Double?, at endpoints: ProviderEndpoints
  ) async throws(SignInFailure) -> Subject? {
    do {
      guard let secret = response.idToken?.secret else {
        if isRequired { throw Reason("is missing, although it was requested (scope openid)") }
        return nil
      }
      let token = try IDToken(secret)
      try await checkSignature(of: token, endpoints)
      let now = exchange.now + (response.skew ?? .zero)
      let claims = IDTokenClaims(
        issuer: issuer, client: client.id, nonce: nonce, isNonceRequired: issuer != nil,
        accessToken: response.accessToken.secret, maximumAge: maximumAge, now: now,
        isNowProviders: response.skew != nil, audiences: exchange.audiences)
      try claims.check(token)
      guard let id = token.claims["sub"]?.name else { throw Reason("does not name a user (sub)") }
      return token.claims["iss"]?.text.map { Subject(issuer: $0, id: id) } ?? exchange.issuer.subject(id)
    } catch {
      throw .failed(
        message: "The ID token from \(response.origin) \(error), so the sign-in was not accepted. Sign in again.")
    }
  }

  /// Checks the signature. If the provider does not publish any keys, accepts a signature that the client cannot check,
  /// because the token came over TLS from the token endpoint (rule 6). Always rejects the algorithm `none` and unknown
  /// algorithms.
  private func checkSignature(of token: IDToken, _ endpoints: ProviderEndpoints) async throws {
    switch token.algorithm {
    case let name where name.lowercased() == "none": throw Reason("is not signed (alg none)")
    case "HS256":
      guard let secret = try await sharedSecret() else {
        if endpoints.keys == nil { return }
        throw Reason("is signed with a secret (HS256) that this client does not have")
      }
      // Providers choose the secret, and jwt-kit traps in debug builds if the secret is shorter than the hash, so this
      // uses HMAC directly. A published key is never used as the secret, because anyone could forge signatures with it.
      let key = SymmetricKey(data: Array(secret.reveal().utf8))
      guard HMAC<SHA256>.isValidAuthenticationCode(token.signature, authenticating: token.signedBytes, using: key)
      else { throw Self.forged }
    case let name where PublicKey.knows(name):
      if let url = endpoints.keys { try await checkSignature(of: token, withKeysAt: url) }
    default:
      // Quotes the name only if it looks like an algorithm's name.
      let name = token.algorithm
      let isName = name.utf8.count <= 8 && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
      throw Reason("is signed with an algorithm that Hearth does not accept (alg\(isName ? " " + name : ""))")
    }
  }

  private func checkSignature(of token: IDToken, withKeysAt url: HTTPURL) async throws {
    var wasTried = false
    // Fetches the keys again for the second attempt, in case the provider has added a key.
    for isFresh in [false, true] {
      let candidates = token.candidates(in: try await published(at: url, isFresh: isFresh))
      for key in candidates where await key.verifies(token.signature, of: token.signedBytes, by: token.algorithm) {
        return
      }
      wasTried = wasTried || !candidates.isEmpty
      // The token names this key, so fetching the keys again would not help.
      if candidates.contains(where: { $0.id != nil && $0.id == token.keyID }) { break }
    }
    throw wasTried ? Self.forged : Reason("is signed with a key that the provider does not publish")
  }

  private static let forged = Reason("has an invalid signature")

  private func published(at url: HTTPURL, isFresh: Bool) async throws -> [PublicKey] {
    do {
      return isFresh ? try await keys.fetch(url) : try await keys.keys(at: url)
    } catch {
      throw Reason("cannot be checked (\(error.message.withoutStop))")
    }
  }

  private func sharedSecret() async throws -> Secret? {
    do {
      return try await client.sharedSecret?.secret(from: exchange.files)
    } catch {
      throw Reason("cannot be checked (\(error.message.withoutStop))")
    }
  }
}

extension IDToken {
  /// Returns the keys that may have signed the token: the key that the token names or, without a name, all keys for its
  /// algorithm (OpenID Connect Core, section 10.1). Keys without an ID are always included, because providers with a
  /// single key often publish it without an ID.
  fileprivate func candidates(in keys: [PublicKey]) -> [PublicKey] {
    // Trying a key takes time, so the number is limited. No provider publishes this many keys at the same time.
    Array(keys.filter { $0.fits(algorithm) && (keyID == nil || $0.id == nil || $0.id == keyID) }.prefix(32))
  }
}

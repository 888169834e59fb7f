import HTTPTypes

/// A mistake that the provider makes, or a refusal that it returns, while it handles a request.
enum Mistake: String, CaseIterable, Codable, Hashable, Sendable {
  // Mistakes in the ID token. The checks in OpenID Connect Core, section 3.1.3.7, detect most of them.
  case wrongNonce, noNonce, algNone, unknownKey, wrongSignature, otherAudience, otherIssuer, expiredIDToken
  case wrongAtHash, noIDToken, otherSubject, otherParty
  /// Unusual ID tokens. In the first, `sub` is a number. In the second, `aud` names an additional API and `azp` is
  /// missing. Hearth accepts the second only if the account requests that audience.
  case numericSubject, twoAudiences
  // Mistakes in the redirect to the client (RFC 6749, section 4.1.2; RFC 9207, section 2).
  case wrongState, noState, wrongIss, noIss, noCode
  /// The provider reports a refusal, regardless of the user's decision.
  case denied
  /// Errors in the token endpoint's response to a code or to a poll.
  case replayedCode, expiredDeviceCode, slowDown

  /// Returns whether the mistake can be made while handling this request.
  func concerns(_ call: Call) -> Bool {
    let isBack = call.path == Endpoint.consent.rawValue && call.method == .post
    let isToken = Sandbox.tokenPaths.contains(call.path)
    let grantType = isToken ? call.fields["grant_type"] : nil
    return switch self {
    case .wrongNonce, .noNonce, .algNone, .unknownKey, .wrongSignature, .otherAudience, .otherIssuer, .expiredIDToken,
      .wrongAtHash, .noIDToken, .otherSubject, .otherParty, .numericSubject, .twoAudiences:
      isToken
    case .wrongState, .noState, .wrongIss, .noIss, .noCode: isBack
    case .denied: isBack || grantType == DeviceCodes.grantType
    case .replayedCode: grantType == "authorization_code"
    case .expiredDeviceCode, .slowDown: grantType == DeviceCodes.grantType
    }
  }
}

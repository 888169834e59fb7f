import HTTPTypes

/// A mistake of the provider, or a refusal, while it handles a request.
enum Mistake: String, CaseIterable, Codable, Hashable, Sendable {
  // In the ID token (OpenID Connect Core, section 3.1.3.7, describes the check for each).
  case wrongNonce, noNonce, algNone, unknownKey, wrongSignature, otherAudience, otherIssuer, expiredIDToken
  case wrongAtHash, noIDToken, otherSubject, otherParty
  /// Valid, but unusual ID tokens: `sub` is a number; `aud` names an API in addition to the client, without `azp`.
  case numericSubject, twoAudiences
  // In the redirect to the client (RFC 6749, section 4.1.2; RFC 9207, section 2).
  case wrongState, noState, wrongIss, noIss, noCode
  /// The person's consent is reported as a refusal.
  case denied
  /// In the answer of the token endpoint to a code or a poll.
  case replayedCode, expiredDeviceCode, slowDown

  /// Whether the mistake can be made while handling this request.
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

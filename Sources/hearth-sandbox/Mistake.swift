import HTTPTypes

/// Something that the provider does wrong, or a no that it says, while it carries a request out.
enum Mistake: String, CaseIterable, Codable, Hashable, Sendable {
  // In the ID token (OpenID Connect Core, section 3.1.3.7, says how each is found).
  case wrongNonce, noNonce, algNone, unknownKey, wrongSignature, otherAudience, otherIssuer, expiredIDToken
  case wrongAtHash, noIDToken, otherSubject, otherParty
  /// In the ID token, and right in another form: `sub` is a number; `aud` names an API besides the client, and no `azp`.
  case numericSubject, twoAudiences
  // Where the browser is sent back to the client (RFC 6749, section 4.1.2; RFC 9207, section 2).
  case wrongState, noState, wrongIss, noIss, noCode
  /// The person's yes is told as a no.
  case denied
  /// What becomes of a code or a poll at the token endpoint.
  case replayedCode, expiredDeviceCode, slowDown

  /// Whether it can be made in carrying this request out.
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

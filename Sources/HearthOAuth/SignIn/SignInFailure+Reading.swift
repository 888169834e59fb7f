import HearthCore

extension SignInFailure {
  /// Converts the failure of a request or of discovery.
  init(_ failure: RefreshFailure) {
    switch failure {
    case .unreachable(let message), .unanswered(let message): self = .unavailable(message: message, retryAfter: nil)
    case .unavailable(let message, let retryAfter): self = .unavailable(message: message, retryAfter: retryAfter)
    case .rejected(_, let message), .unclear(let message, _), .misconfigured(let message):
      self = .failed(message: message)
    }
  }
}

enum SignInStep {
  case pushedRequest, code, deviceCode, poll, password

  /// What the provider rejected, as a verb phrase for messages.
  fileprivate var refusal: String {
    switch self {
    case .pushedRequest: "rejected the authorization request"
    case .code, .poll: "rejected the token request"
    case .deviceCode: "rejected the device authorization request"
    case .password: "rejected the sign-in request"
    }
  }

  fileprivate var endpoint: String {
    switch self {
    case .pushedRequest: "pushed authorization request endpoint"
    case .code, .poll: "token endpoint"
    case .deviceCode: "device authorization endpoint"
    case .password: "sign-in endpoint"
    }
  }
}

/// What a provider's error means for a sign-in.
enum SignInMeaning {
  /// Errors of device sign-ins (RFC 8628, section 3.5).
  case pending, slowDown, expired
  case denied
  case accountDisabled
  case misconfigured
  case unavailable
  /// Any other error.
  case refused
}

extension TokenResponseReader {
  /// Reads the grant in a sign-in response.
  func grant(in response: HTTPResponse, at step: SignInStep) async throws(SignInFailure) -> TokenResponse {
    do {
      return try await response.read(grant(in:))
    } catch {
      throw error.signInFailure(of: origin, at: step)
    }
  }
}

extension TokenRejection {
  func signInMeaning(at step: SignInStep) -> SignInMeaning {
    switch response.status {
    case 300..<400, 407, 408, 425, 500...: return .unavailable
    case 404, 405: return .misconfigured
    default: break
    }
    if isPage { return .unavailable }
    if content != nil { return .refused }
    // A disabled account and a preset's rule for a wrong configuration take precedence over the meanings below.
    switch meaning {
    case .accountDisabled: return step == .password && isWrongPassword ? .denied : .accountDisabled
    case .misconfigured where rules.contains { $0.fits(error) }: return .misconfigured
    case .final, .misconfigured, .unavailable, .unclear, nil: break
    }
    // Twitch has no field for the code and sends the code as the message.
    let words = error.codes + error.descriptions
    if let known = words.lazy.compactMap({ Self.signInMeaning(of: $0) }).first { return known }
    switch meaning {
    case .misconfigured: return .misconfigured
    case .unavailable: return .unavailable
    case .final, .accountDisabled, .unclear, nil: break
    }
    if response.status == 429 { return step == .poll ? .slowDown : .unavailable }
    if step == .password, isWrongPassword { return .denied }
    let isExpired = step == .poll && error.descriptions.contains { $0.lowercased().contains("expired") }
    return isExpired ? .expired : .refused
  }

  func signInFailure(of origin: Origin, at step: SignInStep) -> SignInFailure {
    switch signInMeaning(at: step) {
    case .denied where step == .password:
      .denied(message: "\(origin) rejected the user name or password: \(summary).")
    case .denied:
      .denied(message: "\(origin) denied the sign-in: \(summary).")
    case .accountDisabled:
      .denied(message: "\(origin) rejected the user's account: \(summary).")
    case .expired:
      .expired(message: "\(origin) says that the code has expired: \(summary). Sign in again.")
    case .misconfigured where response.status == 404 || response.status == 405:
      .failed(
        message: "\(origin) has no \(step.endpoint) at the expected address (\(summary)). Check the configuration.")
    case .misconfigured:
      .failed(message: "\(origin) \(step.refusal): \(summary). \(advice)")
    case .unavailable:
      .unavailable(message: unavailability(of: origin), retryAfter: response.retryAfter)
    case .pending, .slowDown, .refused:
      .failed(
        message: content.map { "\(origin) returned HTTP \(response.status) with \($0)." }
          ?? "\(origin) \(step.refusal): \(summary).")
    }
  }

  /// Returns why a poll must be repeated (RFC 8628, section 3.5). Throws if the answer ends the sign-in.
  func reasonToPoll(at origin: Origin) throws(SignInFailure) -> DevicePolling.Answer {
    switch signInMeaning(at: .poll) {
    case .pending: .pending
    case .slowDown: .slowDown
    case .unavailable: .unanswered(message: unavailability(of: origin))
    case .expired, .denied, .accountDisabled, .misconfigured, .refused: throw signInFailure(of: origin, at: .poll)
    }
  }

  private func unavailability(of origin: Origin) -> String {
    let found = (300..<400).contains(response.status) ? Self.redirect : isPage ? Self.page : content
    return found.map { "\(origin) returned HTTP \(response.status) with \($0)." }
      ?? "\(origin) cannot sign you in now: \(summary)."
  }

  private static func signInMeaning(of code: String) -> SignInMeaning? {
    switch code.lowercased() {
    case "authorization_pending": .pending
    case "slow_down": .slowDown
    // Microsoft sends authorization_declined.
    case "access_denied", "authorization_declined": .denied
    // Microsoft sends code_expired.
    case "expired_token", "code_expired": .expired
    case "temporarily_unavailable", "server_error": .unavailable
    default: nil
    }
  }

  /// Whether a backend or Firebase rejects the user name or password. A backend can use its own codes, so any 401 or
  /// 403 with a JSON object counts. Firebase's codes are listed under "Sign in with email / password" in its REST
  /// reference.
  private var isWrongPassword: Bool {
    let known: Set = [
      "invalid_grant", "invalid_credentials", "invalid_password", "wrong_password", "bad_credentials",
      "invalid_login_credentials", "email_not_found", "invalid_email", "missing_password", "user_not_found",
    ]
    if error.codes.contains(where: { known.contains($0.lowercased()) }) { return true }
    return isBackend && (response.status == 401 || response.status == 403) && document.object != nil
  }
}

import HearthCore

/// Sign-in with a code entered on another device (RFC 8628).
extension OAuthSignInEndpoint {
  func beginDevice() async throws(SignInFailure) -> DeviceSignIn {
    let endpoints = try await endpoints()
    guard let url = endpoints.deviceAuthorization else { throw missing("device_authorization_endpoint", for: "device") }
    return try await askForCode(at: url, of: endpoints, adding: offlineScopes(at: endpoints))
  }

  private func askForCode(
    at url: HTTPURL, of endpoints: ProviderEndpoints, adding offlineScopes: [String]
  ) async throws(SignInFailure) -> DeviceSignIn {
    let fields = deviceRequest(scopes + offlineScopes)
    let (response, reader) = try await ask(fields, at: url, of: endpoints, secrets: [])
    do {
      let (object, rejection) = try await response.read(reader.object(in:))
      return try DeviceSignIn(reading: object, else: rejection)
    } catch {
      if error.isAboutScope, !offlineScopes.isEmpty { return try await askForCode(at: url, of: endpoints, adding: []) }
      throw error.signInFailure(of: url.origin, at: .deviceCode)
    }
  }

  func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> GrantAnswer {
    let answer: OAuthTokenEndpoint.Answer
    do {
      // The code works only once, so fetch everything else first.
      if scopes.contains("openid") { try await idTokens.prepare(for: try await tokens.source.endpoints()) }
      answer = try await tokens.ask(fields(ofPoll: signIn), for: nil, secrets: [signIn.deviceCode])
    } catch {
      switch error {
      case .unreachable(let message), .unanswered(let message), .unavailable(let message, _):
        return .notYet(.unanswered(message: message))
      case .rejected, .unclear, .misconfigured: throw SignInFailure(error)
      }
    }
    let response: TokenResponse
    do {
      response = try await answer.response.read(answer.reader.grant(in:))
    } catch {
      return .notYet(try error.reasonToPoll(at: answer.reader.origin))
    }
    // Some providers do not send an ID token in this flow, so it is not required.
    return .granted(try await grant(in: answer, response, nonce: nil, isTokenRequired: false))
  }
}

extension OAuthSignInEndpoint {
  private func deviceRequest(_ scopes: [String]) -> [(String, String)] {
    switch settings.deviceDialect {
    case .standard: scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
    case .pluralScopes: [("scopes", scopes.joined(separator: " "))]
    case .draft: [("response_type", "device_code"), ("scope", scopes.joined(separator: " "))]
    }
  }

  private func fields(ofPoll signIn: DeviceSignIn) -> [(String, String)] {
    let (type, code) = ("urn:ietf:params:oauth:grant-type:device_code", ("device_code", signIn.deviceCode.reveal()))
    return switch settings.deviceDialect {
    case .standard: [("grant_type", type), code]
    case .pluralScopes: [("grant_type", type), code] + deviceRequest(scopes)
    case .draft: [("grant_type", "device_code"), code, ("user_code", signIn.userCode)]
    }
  }
}

extension DeviceSignIn {
  /// The maximum time to wait for the user to enter the code.
  static let longestLifetime = Duration.seconds(86_400)

  /// Parses the response (RFC 8628, section 3.2). Google sends `verification_url`, the name from drafts of the RFC.
  init(reading object: JSONValue, else rejection: TokenRejection) throws(TokenRejection) {
    func url(_ name: String) -> String? {
      let text = object["verification_uri" + name]?.text ?? object["verification_url" + name]?.text
      return text.flatMap(Self.page)
    }
    guard let deviceCode = object["device_code"]?.text else {
      throw rejection.hasError ? rejection : rejection.containing("no device_code")
    }
    guard let userCode = object["user_code"]?.name else { throw rejection.containing("no user_code") }
    guard userCode.utf8.count <= 64, userCode.unicodeScalars.allSatisfy(\.isPlain) else {
      throw rejection.containing("a user_code that cannot be shown")
    }
    guard let page = url("") else { throw rejection.containing("no verification_uri that can be opened") }
    guard let lifetime = TokenResponseReader.lifetime(object["expires_in"]) else {
      throw rejection.containing("no expires_in")
    }
    let interval = TokenResponseReader.lifetime(object["interval"]) ?? .seconds(5)
    self.init(
      deviceCode: Secret(deviceCode), userCode: userCode, verificationURI: page,
      verificationURIComplete: url("_complete"), lifetime: min(lifetime, Self.longestLifetime),
      interval: max(interval, .seconds(1)))
  }

  /// Returns the URL of a page, including its fragment, or `nil` if the text is not a valid URL.
  private static func page(_ text: String) -> String? {
    let base = text.prefix { $0 != "#" }
    guard let url = try? HTTPURL(String(base)), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    return url.description + text[base.endIndex...]
  }
}

/// A request to the loopback address of a sign-in. Any program or web page on this machine can send one.
package struct RedirectRequest: Hashable, Sendable {
  package let method: String
  package let host: String?
  package let target: String
  /// The sender of the request. Another user can see the authorization URL in the browser's command line and use it
  /// to sign in as somebody else, so only requests from programs of this user or of root count.
  package let sender: RedirectSender

  package init(method: String, host: String?, target: String, sender: RedirectSender) {
    self.method = method.streamSafe
    self.host = host?.streamSafe
    self.target = target.streamSafe
    self.sender = sender
  }
}

/// The owner of the program at the other end of a connection to the loopback address.
package enum RedirectSender: Hashable, Sendable {
  /// The user who is signing in, or root, who could act as that user anyway.
  case user
  case otherUser
  /// The owner is unknown. The connection may come from a forwarder in another network namespace or on another machine,
  /// its owner may not have a user ID here, or the connection may already be closed.
  case unknown
}

/// What a request to the loopback address means for the sign-in.
package enum RedirectReading: Hashable, Sendable {
  /// The request is not the provider's response. The sign-in continues.
  case foreign
  /// An error without a state, which any program could have sent. The error is reported, and the sign-in continues.
  case unclaimedError(message: String)
  /// A response with the right state that may come from another user. The response is reported, and the sign-in
  /// continues.
  case untrusted(message: String)
  /// The authorization code (RFC 6749, section 4.1.2).
  case code(Secret)
  case failed(SignInFailure)
  /// The provider has refused a scope, possibly the one for offline access that Hearth adds. Hearth redirects the
  /// browser to `fallbackURL`, but only once.
  case scopeRefused(SignInFailure, fallbackURL: String)
}

extension BrowserSignIn {
  /// Interprets a request to the loopback address. The request counts only if a program of this user or of root sent
  /// it with the right path and state. The issuer must fit `issuer` (RFC 9207, section 2.4).
  package func read(_ request: RedirectRequest) -> RedirectReading {
    guard request.method == "GET", let host = request.host, isOwn(host: host, target: request.target) else {
      return .foreign
    }
    let reading = read(QueryFields(ofTarget: request.target))
    switch (reading, request.sender) {
    case (.foreign, _), (.unclaimedError, _), (_, .user): return reading
    case (_, .otherUser):
      return .untrusted(message: "The response from the browser was ignored, because another user's program sent it.")
    case (_, .unknown):
      return .untrusted(
        message: "The response from the browser was ignored, because Hearth cannot tell which user sent it. This is "
          + "normal if the browser or a port forwarder runs in another namespace (a container, WSL).")
    }
  }

  /// Interprets an address that the user has pasted, ignoring surrounding white space. Returns `nil` if it is not the
  /// redirect address.
  package func read(address text: String) -> RedirectReading? {
    let address = text.trimmingWhitespace
    guard address.hasPrefix(redirectURI) else { return nil }
    let rest = address.dropFirst(redirectURI.count).prefix { $0 != "#" }
    guard rest.hasPrefix("?") || rest.hasPrefix("/?") else { return nil }
    return read(QueryFields(ofTarget: String(rest)))
  }

  /// Returns whether the request is for the redirect address itself, not for a host name that resolves to the
  /// listener.
  private func isOwn(host: String, target: String) -> Bool {
    let origin = "http://" + host
    guard target.hasPrefix("/"), redirectURI.lowercased().hasPrefix(origin.lowercased()) else { return false }
    let path = redirectURI.dropFirst(origin.count)
    return (path.isEmpty ? "/" : path) == target.prefix { $0 != "?" }
  }

  private func read(_ fields: QueryFields) -> RedirectReading {
    func failed(_ message: String) -> RedirectReading { .failed(.failed(message: message)) }
    guard fields["state"] == state.reveal() else {
      guard let error = fields["error"], !fields.has("state") else { return .foreign }
      return .unclaimedError(message: "The provider says: \(words(fields, of: error))".withFullStop)
    }
    // If a parameter is repeated, there is no way to tell which value is the provider's (RFC 6749, section 3.1), so
    // reject the response.
    if let name = fields.repeatedName {
      return failed(
        "The provider's response contains \"\(redactor.line(name, limit: 40))\" more than once, so Hearth did not use "
          + "it. Start the sign-in again.")
    }
    let named = fields["iss"]
    switch issuer {
    case .required(let expected) where named == nil:
      return failed(
        "The response does not name its issuer, which must be \(expected), so Hearth did not use it. Start the "
          + "sign-in again.")
    case .required(let expected), .ifPresent(let expected):
      if let named, named != expected {
        return failed(
          "The response is from another provider, not from \(expected), so Hearth did not use it. Start the "
            + "sign-in again. If that does not help, check the account's issuer.")
      }
    case .none: break
    }
    if let code = fields["code"] { return .code(Secret(code)) }
    guard let error = fields["error"] else {
      return failed("The provider's response contains neither a code nor an error. Start the sign-in again.")
    }
    let why = words(fields, of: error)
    if error == "access_denied" {
      return .failed(.denied(message: "The provider denied access: \(why)".withFullStop))
    }
    let failure = SignInFailure.failed(message: "The provider rejected the sign-in: \(why)".withFullStop)
    if error == "invalid_scope", let fallbackURL { return .scopeRefused(failure, fallbackURL: fallbackURL) }
    return .failed(failure)
  }

  private var redactor: Redactor { Redactor([state, codeVerifier] + [nonce].compactMap(\.self)) }

  private func words(_ fields: QueryFields, of error: String) -> String {
    redactor.line(fields["error_description"] ?? error)
  }
}

extension String {
  fileprivate var withFullStop: String { hasSuffix(".") ? self : self + "." }

  fileprivate var trimmingWhitespace: Substring {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return self[first...last]
  }
}

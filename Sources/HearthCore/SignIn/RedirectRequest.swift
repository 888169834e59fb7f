/// A request to the loopback address that a sign-in's browser is sent back to. Any program and any web page on this machine
/// can make one.
package struct RedirectRequest: Hashable, Sendable {
  package let method: String
  /// The `Host` header; nil where there is none.
  package let host: String?
  /// Path and query.
  package let target: String
  /// A process of the user whose sign-in it is has made it. Another user may know the address of the authorization
  /// request, for it is in the browser's command line, and could sign in there as somebody else.
  package let isOfThisUser: Bool

  package init(method: String, host: String?, target: String, isOfThisUser: Bool) {
    self.method = method.streamSafe
    self.host = host?.streamSafe
    self.target = target.streamSafe
    self.isOfThisUser = isOfThisUser
  }
}

/// What a request to the loopback address means for the sign-in.
package enum RedirectReading: Hashable, Sendable {
  /// It is none of the provider's answers to this sign-in, which goes on.
  case foreign
  /// An error without a state, by which some providers answer, and anybody could: it is told, and the sign-in goes on.
  case unclaimedError(message: String)
  /// The authorization code (RFC 6749, section 4.1.2).
  case code(Secret)
  /// The sign-in is over.
  case failed(SignInFailure)
}

extension BrowserSignIn {
  /// Reads a request to the loopback address. Only one of this user with the right path and state counts, and the issuer
  /// that it names must be the one that was asked (RFC 9207, section 2.4).
  package func read(_ request: RedirectRequest) -> RedirectReading {
    guard request.isOfThisUser, request.method == "GET", let host = request.host,
      isOwn(host: host, target: request.target)
    else {
      return .foreign
    }
    return read(QueryFields(ofTarget: request.target))
  }

  /// Reads the address that the browser was sent back to, where a person has copied it, perhaps with blanks around it; nil
  /// where it is another one.
  package func read(address text: String) -> RedirectReading? {
    let address = text.trimmingWhitespace
    guard address.hasPrefix(redirectURI) else { return nil }
    let rest = address.dropFirst(redirectURI.count).prefix { $0 != "#" }
    guard rest.hasPrefix("?") || rest.hasPrefix("/?") else { return nil }
    return read(QueryFields(ofTarget: String(rest)))
  }

  /// A name that a web page has had resolved to this machine is not the address that is listened on.
  private func isOwn(host: String, target: String) -> Bool {
    let origin = "http://" + host
    guard target.hasPrefix("/"), redirectURI.lowercased().hasPrefix(origin.lowercased()) else { return false }
    let path = redirectURI.dropFirst(origin.count)
    return (path.isEmpty ? "/" : path) == target.prefix { $0 != "?" }
  }

  private func read(_ fields: QueryFields) -> RedirectReading {
    guard fields["state"] == state.reveal() else {
      guard let error = fields["error"], !fields.has("state") else { return .foreign }
      return .unclaimedError(message: "The provider says: \(words(fields, of: error))".withFullStop)
    }
    // RFC 6749, section 3.1. Which of two is the provider's, nobody can say.
    if let name = fields.repeatedName {
      return .failed(
        .failed(
          message:
            "The provider sent the browser back with more than one \"\(redactor.line(name, limit: 40))\", so nothing "
            + "was sent: begin again."))
    }
    let named = fields["iss"]
    switch issuer {
    case .required(let expected) where named == nil:
      return .failed(
        .failed(
          message:
            "The answer does not name \(expected), as all of that provider's do, so nothing was sent: begin again."
        ))
    case .required(let expected), .ifPresent(let expected):
      if let named, named != expected {
        return .failed(
          .failed(
            message:
              "The answer is from another provider than \(expected), which was asked, so nothing was sent: begin "
              + "again, and if it comes again, check the account's issuer."))
      }
    case .none: break
    }
    if let code = fields["code"] { return .code(Secret(code)) }
    guard let error = fields["error"] else {
      return .failed(
        .failed(message: "The provider sent the browser back with neither a code nor an error: begin again."))
    }
    let why = words(fields, of: error)
    if error == "access_denied" {
      return .failed(.denied(message: "The provider says that access was denied: \(why)".withFullStop))
    }
    return .failed(.failed(message: "The provider refused the sign-in: \(why)".withFullStop))
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

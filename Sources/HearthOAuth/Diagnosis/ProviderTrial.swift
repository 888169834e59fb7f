package import HearthCore

/// The result of contacting an account's provider.
package struct ProviderTrial: Sendable {
  /// The provider's endpoints, or `nil` if the provider does not use OAuth.
  package let endpoints: ProviderEndpoints?
  /// The issuer's actual name if it differs from the configured name only by a trailing slash, otherwise `nil`.
  package let otherIssuer: String?

  /// Fetches the provider's endpoints or, if the account does not use discovery, checks that the server responds.
  /// `timeout` applies to each request.
  package init(
    _ provider: ProviderConfiguration, sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) {
    do {
      endpoints = try await provider.oauthEndpoints(sender: sender, files: files, timeout: timeout)
      otherIssuer = nil
    } catch {
      guard case .misconfigured = error, let (other, name) = provider.withOtherSlash else { throw error }
      do {
        endpoints = try await other.oauthEndpoints(sender: sender, files: files, timeout: timeout)
        otherIssuer = name
      } catch _ { throw error }
    }
    if provider.discoveryURL == nil { try await provider.answers(sender: sender, files: files, timeout: timeout) }
  }
}

extension ProviderConfiguration {
  /// The configuration with the issuer's trailing slash added or removed, and the changed issuer's name, or `nil` if
  /// the account does not use discovery.
  fileprivate var withOtherSlash: (ProviderConfiguration, issuer: String)? {
    guard let name = kind.oauth?.authority.issuer?.text,
      let issuer = try? Issuer(name.hasSuffix("/") ? String(name.dropLast()) : name + "/")
    else { return nil }
    var other = self
    switch kind {
    case .oauth(_, let client): other.kind = .oauth(.discovered(issuer), client)
    case .clientCredentials(_, let client): other.kind = .clientCredentials(.discovered(issuer), client)
    case .json, .firebase: return nil
    }
    return (other, issuer.text)
  }

  /// Throws unless the token endpoint's server responds.
  fileprivate func answers(
    sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) {
    guard let url = try? HTTPURL("\(binding.origin)/") else { return }
    let request = HTTPSender.Request(url: url, reading: .statusSaysEnough)
    _ = try await sender.send(request, over: route, files: files, timeout: timeout)
  }
}

extension RefreshFailure {
  /// Whether another attempt can succeed with the same configuration.
  package var mayPass: Bool {
    switch self {
    case .unreachable, .unavailable, .unanswered, .unclear: true
    case .rejected, .misconfigured: false
    }
  }
}

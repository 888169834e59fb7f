package import HearthCore

/// How an account signs in, apart from its endpoints and its client.
package struct SignInSettings: Hashable, Sendable {
  /// The redirect address of the browser, or `nil` if the provider registers no loopback address.
  package var redirect: RedirectAddress? = RedirectAddress()
  /// Scopes without which there is no refresh token, requested in addition to the configured ones.
  package var offlineScopes: [String] = []
  /// Whether authorization requests have a code challenge (RFC 7636).
  package var usesCodeChallenge = true
  package var deviceDialect = DeviceDialect.standard
}

/// How to request a device code, and how to poll.
package enum DeviceDialect: Hashable, Sendable {
  /// RFC 8628, sections 3.1 and 3.4.
  case standard
  /// Both requests call the scopes `scopes` (Twitch).
  case pluralScopes
  /// An early draft of the RFC: the request names a response type, and each poll also contains the user code (Amazon).
  case draft
}

extension SignInSettings {
  /// Reads `redirect_port` or `redirect_uri`.
  init(reading table: TableReader<ProviderKey>, _ preset: ProviderPreset?) throws(ConfigurationError) {
    if let preset { redirect = preset.redirect }
    let (uri, port) = (try table.redirectURI(), try table.integer(.redirectPort, in: 1...65_535))
    switch (uri, port) {
    case (.some, .some): throw table.error("has both \"redirect_port\" and \"redirect_uri\"; one of them is enough")
    case (let uri?, nil): redirect = uri
    case (nil, let port?):
      let usual = redirect ?? RedirectAddress()
      redirect = RedirectAddress(host: usual.host, port: port, path: usual.path)
    case (nil, nil): break
    }
  }

  /// Adds the preset's values, except the redirect address.
  mutating func apply(_ preset: ProviderPreset) {
    offlineScopes = preset.offlineScopes
    usesCodeChallenge = preset.usesCodeChallenge
    deviceDialect = preset.deviceDialect
  }
}

extension TableReader<ProviderKey> {
  /// An address on this machine (RFC 8252, section 7.3). Providers compare its host and path as text.
  fileprivate func redirectURI() throws(ConfigurationError) -> RedirectAddress? {
    guard let text = try string(.redirectURI), let url = try url(.redirectURI) else { return nil }
    let host = url.origin.host
    guard url.origin.scheme == "http", ["127.0.0.1", "[::1]", "localhost"].contains(host) else {
      throw error(
        .redirectURI,
        "cannot be \"\(text.withoutSecrets)\": it must be http with the host 127.0.0.1, [::1] or localhost"
      )
    }
    guard !text.contains("?") else { throw error(.redirectURI, "cannot be \"\(text.withoutSecrets)\": it has a query") }
    let rest = text.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    return RedirectAddress(
      host: host, port: authority.utf8.count > host.utf8.count ? url.origin.port : nil,
      path: String(rest[authority.endIndex...]))
  }
}

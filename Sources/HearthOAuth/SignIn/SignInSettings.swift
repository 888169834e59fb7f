package import HearthCore

/// An account's sign-in settings, except its endpoints and client.
package struct SignInSettings: Hashable, Sendable {
  /// The browser's redirect address, or `nil` if the provider does not accept a loopback address.
  package var redirect: RedirectAddress? = RedirectAddress()
  /// Scopes without which the provider does not issue a refresh token, requested in addition to the configured ones.
  package var offlineScopes: [String] = []
  /// Whether authorization requests contain a code challenge (RFC 7636).
  package var usesCodeChallenge = true
  package var deviceDialect = DeviceDialect.standard
}

/// How to request a device code and how to poll for the grant.
package enum DeviceDialect: Hashable, Sendable {
  /// The requests of RFC 8628, sections 3.1 and 3.4.
  case standard
  /// Both requests send the scopes in `scopes` (Twitch).
  case pluralScopes
  /// The requests of an early draft of the RFC, with a response type, and with the user code in each poll (Amazon).
  case draft
}

extension SignInSettings {
  /// Reads `redirect_port` or `redirect_uri`.
  init(reading table: TableReader<ProviderKey>, _ preset: ProviderPreset?) throws {
    if let preset { redirect = preset.redirect }
    let (uri, port) = (try table.redirectURI(), try table.integer(.redirectPort, in: 1...65_535))
    switch (uri, port) {
    case (.some, .some): throw table.error("has both \"redirect_port\" and \"redirect_uri\"; remove one of them")
    case (let uri?, nil): redirect = uri
    case (nil, let port?):
      let usual = redirect ?? RedirectAddress()
      redirect = RedirectAddress(host: usual.host, port: port, path: usual.path)
    case (nil, nil): break
    }
  }

  /// Applies all settings of the preset except the redirect address.
  mutating func apply(_ preset: ProviderPreset) {
    offlineScopes = preset.offlineScopes
    usesCodeChallenge = preset.usesCodeChallenge
    deviceDialect = preset.deviceDialect
  }
}

extension TableReader<ProviderKey> {
  /// Reads `redirect_uri`, which must be an address on this machine (RFC 8252, section 7.3). Does not change the path,
  /// even if it is empty, because providers compare addresses as strings.
  fileprivate func redirectURI() throws -> RedirectAddress? {
    try url(.redirectURI) { text in
      let origin = try HTTPURL(text).origin
      guard origin.scheme == "http", ["127.0.0.1", "[::1]", "localhost"].contains(origin.host) else {
        throw Reason("it must be an http URL with the host 127.0.0.1, [::1] or localhost")
      }
      guard !text.contains("?") else { throw Reason("it has a query") }
      let rest = text.dropFirst("http://".count)
      let authority = rest.prefix { $0 != "/" }
      return RedirectAddress(
        host: origin.host, port: authority.utf8.count > origin.host.utf8.count ? origin.port : nil,
        path: String(rest[authority.endIndex...]))
    }
  }
}

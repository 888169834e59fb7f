import HearthCore

extension HTTPRoute {
  /// `usesMutualTLS`: the client authenticates by its certificate.
  init(
    reading table: TableReader<ProviderKey>, usesMutualTLS: Bool, proxies: ProxyEnvironment
  ) throws(ConfigurationError) {
    // All authorities of a system fit into 1 MiB.
    authorities = try table.file(.caFile, "ca_file", limit: 1 << 20)
    if usesMutualTLS, let certificate = try table.file(.clientCertificateFile, "client certificate"),
      let key = try table.file(.clientKeyFile, "client key", isSecret: true)
    {
      identity = Identity(certificate: certificate, key: key)
    }
    pins = try table.pins()
    proxy = try table.proxy() ?? .environment(proxies)
  }
}

extension TableReader<ProviderKey> {
  fileprivate func pins() throws(ConfigurationError) -> Set<CertificatePin> {
    var pins: Set<CertificatePin> = []
    for text in try strings(.certificatePins) {
      guard let pin = CertificatePin(text) else {
        throw error(
          .certificatePins,
          "cannot have \"\(text)\": a pin is sha256/ and the Base64 of the 32 bytes of a public key's hash")
      }
      pins.insert(pin)
    }
    return pins
  }

  fileprivate func proxy() throws(ConfigurationError) -> ProxyChoice? {
    guard let text = try string(.proxy) else { return nil }
    if text == "none" { return .direct }
    do {
      return .named(try Proxy(text))
    } catch {
      throw self.error(.proxy, "cannot be \"\(text.withoutSecrets)\": \(error)")
    }
  }
}

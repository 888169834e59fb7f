import HearthCore

extension HTTPRoute {
  /// Reads the route from an account's table. `usesMutualTLS` is true if the client authenticates with its certificate.
  init(reading table: TableReader<ProviderKey>, usesMutualTLS: Bool, proxies: ProxyEnvironment) throws {
    // 1 MiB is large enough for a bundle of all the system's certificate authorities.
    authorities = try table.file(.caFile, "ca_file", limit: 1 << 20)
    if usesMutualTLS, let certificate = try table.file(.clientCertificateFile, "client certificate"),
      let key = try table.file(.clientKeyFile, "client key", isSecret: true)
    {
      identity = Identity(certificate: certificate, key: key)
    }
    for text in try table.strings(.certificatePins) {
      guard let pin = CertificatePin(text) else {
        throw table.error(
          .certificatePins,
          "cannot contain \"\(text)\": a pin must be \"sha256/\" and the Base64-encoded SHA-256 hash of a public key")
      }
      pins.insert(pin)
    }
    let own: ProxyChoice? = try table.url(.proxy) { $0 == "none" ? .direct : .named(try Proxy($0)) }
    proxy = own ?? .environment(proxies)
  }
}

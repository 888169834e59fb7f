package import HearthCore

/// Finds the provider for an email address (OpenID Connect Discovery 1.0, section 2; RFC 7033).
package struct IssuerLookup: Sendable {
  package enum Finding: Hashable, Sendable {
    case issuer(String)
    /// The name of the preset for the domain, or for the issuer that the domain names.
    case preset(String)
  }

  private static let relation = "http://openid.net/specs/connect/1.0/issuer"

  private let address: String
  private let domain: String

  /// Returns `nil` if the text is not an email address.
  package init?(_ address: String) {
    guard let at = address.lastIndex(of: "@"), at > address.startIndex else { return nil }
    (self.address, domain) = (address, address[address.index(after: at)...].lowercased())
    guard !domain.isEmpty, url != nil else { return nil }
  }

  /// The WebFinger URL, which uses plain HTTP if the domain is this machine.
  private var url: HTTPURL? {
    let query = FormBody.encode([("resource", "acct:" + address), ("rel", Self.relation)])
    let target = "/.well-known/webfinger?" + String(decoding: query, as: UTF8.self)
    return (try? HTTPURL("http://\(domain)\(target)")) ?? (try? HTTPURL("https://\(domain)\(target)"))
  }

  /// Asks the domain for its issuer, then searches the presets' email domains. Returns `nil` if both searches find
  /// nothing. Throws if the request to the domain fails and no preset lists the domain.
  package func find(
    sender: HTTPSender, files: any FileSystem, timeout: Duration, proxies: ProxyEnvironment
  ) async throws(RefreshFailure) -> Finding? {
    let preset = ProviderPreset.all.first { $0.mailDomains.contains(domain) }
    do {
      if let issuer = try await named(sender, files, timeout, proxies) {
        return ProviderPreset.all.first { $0.issuer == issuer }.map { .preset($0.name) } ?? .issuer(issuer)
      }
    } catch {
      guard preset != nil else { throw error }
    }
    return preset.map { .preset($0.name) }
  }

  /// Returns the issuer that the domain names, or `nil` if the domain does not name one.
  private func named(
    _ sender: HTTPSender, _ files: any FileSystem, _ timeout: Duration, _ proxies: ProxyEnvironment
  ) async throws(RefreshFailure) -> String? {
    guard let url else { return nil }
    var route = HTTPRoute()
    route.proxy = .environment(proxies)
    let (response, _) = try await sender.document(
      at: url, over: route, files: files, timeout: timeout, failure: "Cannot look up the provider of \(domain)")
    guard response.status == 200, case .array(let links)? = JSONValue(parsing: response.body)?["links"] else {
      return nil
    }
    let issuers = links.filter { $0["rel"]?.text == Self.relation }.compactMap { $0["href"]?.text }
    return issuers.first { (try? Issuer($0)) != nil }
  }
}

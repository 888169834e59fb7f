/// The name of a configured issuer, compared as a string (OpenID Connect Discovery 1.0, section 4.3).
///
/// Some names in Microsoft Entra stand for many issuers: `…/common/v2.0`, `…/organizations/v2.0` and
/// `…/consumers/v2.0`. Their discovery documents name the issuer `…/{tenantid}/v2.0` or, for consumers, a fixed tenant.
/// Each ID token names the user's tenant ("OpenID Connect on the Microsoft identity platform").
package struct IssuerName: Hashable, Sendable {
  package let text: String
  /// The part before the tenant, or `nil` if the name stands for a single issuer.
  private let tenantsRoot: String?

  private static let tail = "/v2.0"
  private static let consumers = "consumers"
  /// The tenant of all personal Microsoft accounts.
  private static let consumersTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

  package init(_ text: String) {
    self.text = text
    let root = ["common", "organizations", Self.consumers].lazy
      .map { "/" + $0 + Self.tail }.first { text.hasSuffix($0) }
      .map { text.dropLast($0.count) + "/" }
    tenantsRoot = root.map { String($0) }
  }

  /// Whether the name stands for many issuers. If so, only a token can name the issuer of its user.
  package var standsForMany: Bool { tenantsRoot != nil }

  /// Returns whether the issuer's discovery document may have this `issuer`.
  package func mayCallItself(_ name: String) -> Bool {
    guard let tenantsRoot else { return name == text }
    let isConsumers = text == tenantsRoot + Self.consumers + Self.tail
    return name == text || name == tenantsRoot + "{tenantid}" + Self.tail
      || isConsumers && name == tenantsRoot + Self.consumersTenant + Self.tail
  }

  /// Returns whether a token from this issuer may have this `iss`. According to Google's documentation, Google's ID
  /// tokens may omit the scheme ("OpenID Connect", "iss").
  package func covers(_ issuer: String) -> Bool {
    if issuer == text || "https://" + issuer == text { return true }
    guard let tenantsRoot else { return false }
    guard issuer.hasPrefix(tenantsRoot), issuer.hasSuffix(Self.tail) else { return false }
    return Self.isTenant(issuer.dropFirst(tenantsRoot.count).dropLast(Self.tail.count))
  }

  /// Returns whether the text is a GUID, with 8, 4, 4, 4 and 12 hexadecimal digits.
  private static func isTenant(_ text: Substring) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }
}

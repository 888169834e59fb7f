/// Who a credential belongs to: the provider's name for the user, unique within the issuer (OIDC Core, section 2).
package struct Subject: Hashable, Sendable {
  package let issuer: String
  package let id: String

  package init(issuer: String, id: String) {
    self.issuer = issuer
    self.id = id
  }
}

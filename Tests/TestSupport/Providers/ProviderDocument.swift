/// How a real provider's discovery document names its issuer, and where the document is.
package struct ProviderDocument: Sendable, CustomStringConvertible {
  /// What Hearth does with it.
  package enum Meaning: Sendable {
    case used
    /// The issuer differs by its final slash. Hearth accepts both for this document.
    case misspelled
    /// The issuer is a different one, which may have no document. Then the account must name the endpoints.
    case otherIssuer
  }

  package let provider: String
  /// The issuer in the account.
  package let configured: String
  /// The `issuer` in the document.
  package let named: String
  /// The redirect from the document's own address (status and `Location`), if there is one.
  package let redirect: (status: Int, location: String)?
  package let meaning: Meaning
  /// The source of the documentation or quotation.
  package let source: String

  private init(
    _ provider: String, _ configured: String, names named: String, redirect: (Int, String)? = nil,
    means meaning: Meaning, _ source: String
  ) {
    (self.provider, self.configured, self.named) = (provider, configured, named)
    (self.redirect, self.meaning, self.source) = (redirect, meaning, source)
  }

  package var body: String { #"{"issuer":"\#(named)","token_endpoint":"\#(configured)/token"}"# }

  package var description: String { "\(provider): \(configured) names \(named)" }

  private static let tenant = "4c2f1234-0123-4567-7654-123321828afd"

  package static let all = [
    ProviderDocument(
      "Azure AD B2C", "https://org.b2clogin.com/\(tenant)/b2c_1_signin/v2.0",
      names: "https://org.b2clogin.com/\(tenant)/v2.0/", means: .otherIssuer,
      "https://github.com/coreos/go-oidc/issues/121"),
    ProviderDocument(
      "Azure AD B2C, by the tenant's name", "https://org.b2clogin.com/org.onmicrosoft.com/B2C_1_signin/v2.0",
      names: "https://org.b2clogin.com/\(tenant)/v2.0/", means: .otherIssuer,
      "https://github.com/panva/openid-client/issues/718"),
    ProviderDocument(
      "Azure AD B2C, compatible", "https://org.b2clogin.com/tfp/\(tenant)/b2c_1_signin/v2.0/",
      names: "https://org.b2clogin.com/tfp/\(tenant)/b2c_1_signin/v2.0/", means: .used,
      "https://github.com/Azure/azure-sdk-for-java/issues/21036"),
    ProviderDocument(
      "Microsoft Entra, all tenants", "https://login.microsoftonline.com/common/v2.0",
      names: "https://login.microsoftonline.com/{tenantid}/v2.0", means: .used,
      "https://github.com/MicrosoftDocs/azure-docs/issues/95994"),
    ProviderDocument(
      "Oracle IDCS", "https://idcs-fd65079a.identity.oraclecloud.com", names: "https://identity.oraclecloud.com/",
      means: .otherIssuer, "https://docs.oracle.com/en/cloud/paas/identity-cloud/rest-api/op-admin-v1-me-get.html"),
    ProviderDocument(
      "OneLogin", "https://org.onelogin.com/oidc", names: "https://openid-connect.onelogin.com/oidc",
      means: .otherIssuer, "https://github.com/coreos/go-oidc/issues/154"),
    ProviderDocument(
      "Cloud Foundry UAA", "https://uaa.example.com/uaa", names: "https://uaa.example.com/uaa/oauth/token",
      means: .otherIssuer, "https://github.com/zmartzone/lua-resty-openidc/issues/42"),
    ProviderDocument(
      "authentik", "https://id.example.com/application/o/app/", names: "https://id.example.com/application/o/app/",
      means: .used, "https://github.com/modelcontextprotocol/php-sdk/pull/506"),
    ProviderDocument(
      "authentik, without its slash", "https://id.example.com/application/o/app",
      names: "https://id.example.com/application/o/app/", means: .misspelled,
      "https://github.com/achtungsoftware/alarik/issues/14"),
    ProviderDocument(
      "Nextcloud", "https://cloud.example.org/", names: "https://cloud.example.org/",
      redirect: (301, "https://cloud.example.org/index.php/.well-known/openid-configuration"), means: .used,
      "https://github.com/Timshel/vaultwarden/issues/58"),
    ProviderDocument(
      "WordPress", "https://example.org", names: "https://example.org",
      redirect: (301, "/.well-known/openid-configuration/"), means: .used,
      "https://github.com/panva/openid-client/issues/13"),
  ]
}

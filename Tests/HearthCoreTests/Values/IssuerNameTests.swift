import HearthCore
import Testing

@Suite("The name of an issuer") struct IssuerNameTests {
  private static let root = "https://login.microsoftonline.com/"
  private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
  private static let template = root + "{tenantid}/v2.0"

  @Test("stands for itself alone, to the letter")
  func plain() {
    for text in ["https://id.example.com", Self.root + Self.tenant + "/v2.0", "https://id.example.com/common"] {
      let name = IssuerName(text)
      #expect(!name.standsForMany)
      #expect(name.mayCallItself(text) && name.covers(text))
      for other in [text + "/", Self.template, Self.root + Self.tenant + "/v2", "https://id.example.com/{tenantid}"] {
        #expect(!name.mayCallItself(other) && !name.covers(other))
      }
    }
  }

  @Test("may be written without its scheme in tokens, as Google's is, and not in documents")
  func withoutScheme() {
    let name = IssuerName("https://accounts.google.com")
    #expect(name.covers("accounts.google.com") && !name.mayCallItself("accounts.google.com"))
    for other in ["http://accounts.google.com", "//accounts.google.com", "https://https://accounts.google.com", ""] {
      #expect(!name.covers(other))
    }
  }

  @Test(
    "may be Microsoft's for all tenants, whose document and tokens name others",
    arguments: ["common", "organizations", "consumers"])
  func tenants(_ alias: String) {
    let name = IssuerName(Self.root + alias + "/v2.0")
    #expect(name.standsForMany)
    #expect(name.mayCallItself(Self.template) && name.mayCallItself(name.text))
    #expect(name.covers(Self.root + Self.tenant + "/v2.0") && name.covers(name.text))
    for other in [
      Self.root + "{tenantid}/v2.0/", Self.root + "{tenant}/v2.0", "https://login.microsoftonline.us/{tenantid}/v2.0",
      Self.root + Self.tenant + "/v2.0",
    ] {
      #expect(!name.mayCallItself(other))
    }
    for other in [
      Self.template, Self.root + Self.tenant + "/v2.0/", Self.root + Self.tenant + "/v1.0", Self.root + "evil/v2.0",
      Self.root + "cafe/v2.0",
      Self.root + Self.tenant + "/x/v2.0", "https://login.example.com/" + Self.tenant + "/v2.0",
    ] {
      #expect(!name.covers(other))
    }
  }

  @Test("of personal Microsoft accounts may be their tenant's in the document, as is seen besides the placeholder")
  func consumers() {
    let own = Self.root + "9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
    #expect(IssuerName(Self.root + "consumers/v2.0").mayCallItself(own))
    #expect(!IssuerName(Self.root + "common/v2.0").mayCallItself(own))
  }
}

import Testing

@testable import HearthCore

@Suite("Origins of mail servers") struct MailOriginTests {
  @Test(
    "a mail server has an origin, with its scheme's own port where none is named",
    arguments: [
      ("imaps://imap.example.com", "imaps://imap.example.com", 993),
      ("smtps://smtp.example.com:465/", "smtps://smtp.example.com", 465),
      ("SMTP://Mail.Example.com:587", "smtp://mail.example.com:587", 587), ("pop3s://[::1]?x", "pop3s://[::1]", 995),
      ("https://api.example.com/me", "https://api.example.com", 443),
    ])
  func origins(text: String, description: String, port: Int) throws {
    let origin = try Origin(ofServer: text)
    #expect((origin.description, origin.port) == (description, port))
    #expect(try Origin(ofServer: origin.description) == origin)
  }

  @Test(
    "what could be taken for another server has none",
    arguments: [
      ("imaps://ada@imap.example.com", HTTPURL.ParseError.userInformation), ("imaps://imap.example.com:0", .badPort),
      ("imaps://", .badHost), ("imaps://a b", .badHost), ("imaps://a#b", .badHost),
      ("imaps:imap.example.com", .notAbsolute),
      ("imapx://imap.example.com", .notHTTP), ("http://api.example.com", .plainHTTP),
    ])
  func refused(text: String, error: HTTPURL.ParseError) {
    #expect(throws: error) { try Origin(ofServer: text) }
  }

  @Test("the same host is another origin for mail than for an API, and Hearth itself sends nothing to a mail server")
  func apart() throws {
    let mail = try Origin(ofServer: "imaps://example.com:443")
    let api = try Origin(ofServer: "https://example.com")
    #expect(mail != api)
    let settings = APISettings(origins: [mail, api])
    #expect(settings.origins == [api])
    #expect(settings.mailOrigins == [mail])
    #expect(settings.allOrigins == [api, mail])
    #expect(throws: HTTPURL.ParseError.notHTTP) { try HTTPURL("imaps://example.com:443/") }
  }
}

extension Origin {
  /// By scheme, named as in RFC 5092 and by curl. Without TLS from the start it is for the mail program to ask for it
  /// (STARTTLS).
  static let mailPorts = ["imap": 143, "imaps": 993, "pop3": 110, "pop3s": 995, "smtp": 25, "smtps": 465]

  /// Whether it is a mail server, to which other programs bring the token: Hearth itself speaks HTTP alone.
  var isOfMail: Bool { Self.mailPorts[scheme] != nil }

  /// Reads the URL of a server that takes tokens: an API's, or a mail server's.
  package init(ofServer text: String) throws(HTTPURL.ParseError) {
    guard let schemeEnd = text.firstRange(of: "://"),
      Self.mailPorts[text[..<schemeEnd.lowerBound].lowercased()] != nil
    else {
      self = try HTTPURL(text).origin
      return
    }
    let authority = text[schemeEnd.upperBound...].prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw .userInformation }
    self = try Origin(scheme: text[..<schemeEnd.lowerBound].lowercased(), authority: authority.utf8)
  }
}

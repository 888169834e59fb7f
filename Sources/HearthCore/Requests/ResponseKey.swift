/// What a kept answer answers: this user's GET of an address, with the header fields that it was sent with.
package struct ResponseKey: Hashable, Sendable {
  package let account: AccountName
  package let subject: Subject
  package let url: String
  private let headers: [APIRequest.Header]

  package init(account: AccountName, subject: Subject, request: APIRequest) {
    self.account = account
    self.subject = subject
    url = request.url.description
    headers = request.headers
  }

  /// What the request says in the fields of these names, which are in lower case: of two requests of one address with the
  /// same text, the one may be answered with the answer to the other (RFC 9111, section 4.1).
  package func selection(by names: [String]) -> String {
    names.map { name in
      let values = headers.filter { $0.name.lowercased() == name }.map(\.value.withoutBlanks)
      return values.isEmpty ? "" : name + ":" + values.joined(separator: ",")
    }.joined(separator: "\n")
  }
}

extension String {
  /// Without the white space that has no meaning in a header field (RFC 9110, section 5.5).
  fileprivate var withoutBlanks: String {
    let tail = drop { $0 == " " || $0 == "\t" }
    guard let last = tail.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(tail[...last])
  }
}

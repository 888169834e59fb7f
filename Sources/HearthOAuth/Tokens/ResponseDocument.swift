import HearthCore

/// The object in a token endpoint's response: in JSON, or in a form as some old providers write it.
struct ResponseDocument: Hashable, Sendable {
  /// The object, if the response contains one.
  let object: JSONValue?
  let isForm: Bool

  init(_ response: HTTPResponse) {
    let json = JSONValue(parsing: response.body)
    let type = response.header("Content-Type")?.lowercased() ?? ""
    if json == nil, type.hasPrefix("application/x-www-form-urlencoded"), let fields = FormBody.decode(response.body) {
      // Two fields of one name contradict each other, so neither is used.
      let members = Dictionary(fields.map { ($0.0, JSONValue?.some(.string($0.1))) }) { _, _ in nil }
      (object, isForm) = (.object(members.compactMapValues(\.self)), true)
    } else {
      (object, isForm) = (json?.object == nil ? nil : json, false)
    }
  }
}

import HearthCore

/// The object in a token endpoint's response: in JSON, or in a form as some old providers write it.
struct ResponseDocument: Hashable, Sendable {
  /// It is nil where the response contains none.
  let object: JSONValue?
  let isForm: Bool

  init(_ response: HTTPResponse) {
    let json = JSONValue(parsing: response.body)
    guard json?.object == nil else {
      (object, isForm) = (json, false)
      return
    }
    let type = response.header("Content-Type")?.lowercased() ?? ""
    guard json == nil, type.hasPrefix("application/x-www-form-urlencoded"), let fields = FormBody.decode(response.body)
    else {
      (object, isForm) = (nil, false)
      return
    }
    // Two fields of one name contradict each other, so neither is used.
    let members = Dictionary(fields.map { ($0.0, JSONValue?.some(.string($0.1))) }) { _, _ in nil }
    object = .object(members.compactMapValues(\.self))
    isForm = true
  }
}

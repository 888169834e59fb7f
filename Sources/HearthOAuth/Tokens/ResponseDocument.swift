import HearthCore

/// A token endpoint's response, parsed as an object. Some old providers send a form instead of JSON.
struct ResponseDocument: Hashable, Sendable {
  /// The object, or `nil` if the response does not contain one.
  let object: JSONValue?
  let isForm: Bool

  init(_ response: HTTPResponse) {
    let json = JSONValue(parsing: response.body)
    let type = response.header("Content-Type")?.lowercased() ?? ""
    if json == nil, type.hasPrefix("application/x-www-form-urlencoded"), let fields = FormBody.decode(response.body) {
      // If a field is repeated, it is unclear which value counts, so all of them are ignored.
      let members = Dictionary(fields.map { ($0.0, JSONValue?.some(.string($0.1))) }) { _, _ in nil }
      (object, isForm) = (.object(members.compactMapValues(\.self)), true)
    } else {
      (object, isForm) = (json?.object == nil ? nil : json, false)
    }
  }
}

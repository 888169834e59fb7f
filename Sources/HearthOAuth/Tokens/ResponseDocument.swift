import HearthCore

/// The object in a token endpoint's answer: in JSON, or in a form as some old providers write it.
struct ResponseDocument: Hashable, Sendable {
  /// Nil where the answer holds none.
  let object: JSONValue?
  let isForm: Bool

  init(_ answer: HTTPResponse) {
    let json = JSONValue(parsing: answer.body)
    guard json?.object == nil else {
      (object, isForm) = (json, false)
      return
    }
    let type = answer.header("Content-Type")?.lowercased() ?? ""
    guard json == nil, type.hasPrefix("application/x-www-form-urlencoded"), let fields = FormBody.decode(answer.body)
    else {
      (object, isForm) = (nil, false)
      return
    }
    // Of two fields of one name neither is believed.
    let members = fields.filter { field in fields.count { $0.0 == field.0 } == 1 }
    object = .object(Dictionary(members.map { ($0.0, .string($0.1)) }) { first, _ in first })
    isForm = true
  }
}

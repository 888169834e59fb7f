/// The error in a token endpoint's response: its codes, and its descriptions for people.
struct ResponseError: Hashable, Sendable {
  /// What may be the error's code, the likeliest first (RFC 6749, section 5.2, and fields of single providers).
  let codes: [String]
  /// The likeliest first.
  let descriptions: [String]
  /// The response has an error in a field that is meant for it, whatever the status.
  let isNamed: Bool

  init(_ document: JSONValue?) {
    var codes: [String?] = []
    var descriptions: [String?] = []
    if let error = document?["error"] {
      // Google writes an object: {"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}.
      let (code, description) = Self.split(error.name)
      descriptions.append(description)
      codes += [code, Self.leadingCode(error["message"]?.text)]
      if case .array(let details) = error["details"] { codes += details.map { $0["reason"]?.text } }
      codes += [error["status"]?.name, error["code"]?.name]
      descriptions.append(error["message"]?.text)
    }
    // Withings has a number in "status", beside the status 200 of HTTP.
    codes += ["error_code", "errorCode", "errcode", "code", "status"].map { document?[$0]?.name }
    // Fitbit's errors have an errorType, those of JSON:API a code. The code of a field, as Strava has it, is about that field.
    if case .array(let errors) = document?["errors"] {
      codes += errors.flatMap { [$0["errorType"]?.name, $0["field"] == nil ? $0["code"]?.name : nil] }
    }
    descriptions =
      [document?["error_description"]?.text] + descriptions
      + [
        "errorDescription", "error_message", "errorMessage", "errorSummary", "message", "msg", "errmsg", "detail",
        "reason", "hint", "title",
      ].map { document?[$0]?.text }
    if case .array(let errors) = document?["errors"] { descriptions += errors.map(Self.description) }
    // 0 means success.
    self.codes = codes.compactMap(\.self).filter { $0 != "0" }
    self.descriptions = descriptions.compactMap(\.self)
    isNamed = ["error", "error_code", "errorCode", "errcode"].contains { document?[$0]?.isError == true }
  }

  /// Firebase puts its code at the beginning of the message: `USER_NOT_FOUND : There is no user …`.
  private static func leadingCode(_ message: String?) -> String? {
    let word = message?.prefix { $0 != " " && $0 != ":" } ?? ""
    let isCode = word.contains("_") && word.utf8.allSatisfy { Unicode.Scalar($0).properties.isUppercase || $0 == 0x5F }
    return isCode ? String(word) : nil
  }

  /// Dropbox writes a description after its code: `invalid_client: Invalid client_id or client_secret`. Withings writes a
  /// sentence alone.
  private static func split(_ error: String?) -> (code: String?, description: String?) {
    guard let error, error.contains(" ") else { return (error, nil) }
    guard let end = error.firstRange(of: ": "), !error[..<end.lowerBound].contains(" ") else { return (error, error) }
    return (String(error[..<end.lowerBound]), String(error[end.upperBound...]))
  }

  /// An element of a list of errors: a text, or an object such as Strava's resource, field and code.
  private static func description(of error: JSONValue) -> String? {
    let parts = ["resource", "field", "code", "message"].compactMap { error[$0]?.text }
    return error.text ?? (parts.isEmpty ? nil : parts.joined(separator: " "))
  }
}

extension JSONValue {
  /// The value means an error, and not "no error".
  fileprivate var isError: Bool {
    switch self {
    case .null: false
    case .bool(let value): value
    case .integer(let number): number != 0
    case .number(let number): number != 0
    case .string(let text): !text.isEmpty && text != "0"
    case .array(let values): !values.isEmpty
    case .object(let members): !members.isEmpty
    }
  }
}

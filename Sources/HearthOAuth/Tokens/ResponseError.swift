/// The error in a token endpoint's response: its codes, and its descriptions for people.
struct ResponseError: Hashable, Sendable {
  /// Possible error codes, the likeliest first (RFC 6749, section 5.2, and fields of single providers).
  let codes: [String]
  /// Descriptions, the likeliest first.
  let descriptions: [String]
  /// Whether the response has an error in a field for errors, whatever the status.
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
    // Withings puts a number into "status", with the HTTP status 200.
    codes += ["error_code", "errorCode", "errcode", "code", "status"].map { document?[$0]?.name }
    // Fitbit's errors have an errorType, those of JSON:API a code. An error with a field, like Strava's, has a code
    // only for that field.
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

  /// The first word of the message, where Firebase puts its code: `USER_NOT_FOUND : There is no user …`.
  private static func leadingCode(_ message: String?) -> String? {
    let word = message?.prefix { $0 != " " && $0 != ":" } ?? ""
    let isCode = word.contains("_") && word.utf8.allSatisfy { Unicode.Scalar($0).properties.isUppercase || $0 == 0x5F }
    return isCode ? String(word) : nil
  }

  /// Splits a code from the description that Dropbox writes after it: `invalid_client: Invalid client_id or
  /// client_secret`. Withings writes only a sentence.
  private static func split(_ error: String?) -> (code: String?, description: String?) {
    guard let error, error.contains(" ") else { return (error, nil) }
    guard let end = error.firstRange(of: ": "), !error[..<end.lowerBound].contains(" ") else { return (error, error) }
    return (String(error[..<end.lowerBound]), String(error[end.upperBound...]))
  }

  /// The description in an element of a list of errors: a text, or an object such as Strava's resource, field and code.
  private static func description(of error: JSONValue) -> String? {
    let parts = ["resource", "field", "code", "message"].compactMap { error[$0]?.text }
    return error.text ?? (parts.isEmpty ? nil : parts.joined(separator: " "))
  }
}

extension JSONValue {
  /// Whether the value means an error, not "no error".
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

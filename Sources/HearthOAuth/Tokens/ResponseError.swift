/// The error codes and descriptions in a token endpoint's response.
struct ResponseError: Hashable, Sendable {
  /// Possible error codes, likeliest first (RFC 6749, section 5.2, and the fields of individual providers).
  let codes: [String]
  /// Descriptions, likeliest first.
  let descriptions: [String]
  /// Whether one of the response's error fields contains an error, regardless of the HTTP status.
  let isNamed: Bool

  init(_ document: JSONValue?) {
    var codes: [String?] = []
    var descriptions: [String?] = []
    if let error = document?["error"] {
      // Google sends an object, such as {"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}.
      let (code, description) = Self.split(error.name)
      descriptions.append(description)
      codes += [code, Self.leadingCode(error["message"]?.text)]
      if case .array(let details) = error["details"] { codes += details.map { $0["reason"]?.text } }
      codes += [error["status"]?.name, error["code"]?.name]
      descriptions.append(error["message"]?.text)
    }
    // Withings sends the error code as a number in "status". Its HTTP status is always 200.
    codes += ["error_code", "errorCode", "errcode", "code", "status"].map { document?[$0]?.name }
    // Fitbit's errors contain an errorType, and JSON:API's contain a code. If an error names a request field, as
    // Strava's errors do, its code concerns only that field, so the code is not used.
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
    // The code 0 means success.
    self.codes = codes.compactMap(\.self).filter { $0 != "0" }
    self.descriptions = descriptions.compactMap(\.self)
    isNamed = ["error", "error_code", "errorCode", "errcode"].contains { document?[$0]?.isError == true }
  }

  /// Returns the first word of the message if it is a code, as in Firebase's `USER_NOT_FOUND : There is no user …`.
  private static func leadingCode(_ message: String?) -> String? {
    let word = message?.prefix { $0 != " " && $0 != ":" } ?? ""
    let isCode = word.contains("_") && word.utf8.allSatisfy { Unicode.Scalar($0).properties.isUppercase || $0 == 0x5F }
    return isCode ? String(word) : nil
  }

  /// Separates the code from a description that follows it, as in Dropbox's `invalid_client: Invalid client_id or
  /// client_secret`. A sentence without a code, as from Withings, is returned as both.
  private static func split(_ error: String?) -> (code: String?, description: String?) {
    guard let error, error.contains(" ") else { return (error, nil) }
    guard let end = error.firstRange(of: ": "), !error[..<end.lowerBound].contains(" ") else { return (error, error) }
    return (String(error[..<end.lowerBound]), String(error[end.upperBound...]))
  }

  /// Returns the description in an error list's element, which is a string or an object with fields like Strava's.
  private static func description(of error: JSONValue) -> String? {
    let parts = ["resource", "field", "code", "message"].compactMap { error[$0]?.text }
    return error.text ?? (parts.isEmpty ? nil : parts.joined(separator: " "))
  }
}

extension JSONValue {
  /// Whether the value represents an error rather than success.
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

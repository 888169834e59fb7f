package import HearthControl

/// The methods and notifications of `rpc.discover`, to compare with the wire.
package struct DescribedProtocol {
  private let document: JSON

  package init(_ document: JSON) {
    self.document = document
  }

  /// What differs from the description in a call and its answer (both whole objects), or nil if nothing does.
  package func flaw(in call: JSON, answeredBy answer: JSON) -> String? {
    guard let name = call["method"]?.string, let method = description(name, among: "methods") else {
      // An invalid request is refused as one, whatever method it names.
      let isRefused = [-32601, -32600].contains(answer["error"]?["code"]?.int)
      return isRefused ? nil : "nothing describes the method that was answered: \(call)"
    }
    if let code = answer["error"]?["code"]?.int { return flaw(inError: code, of: method) }
    guard let result = answer["result"], let schema = method["result"]?["schema"] else { return "there is no result" }
    return flaw(in: call["params"]?.object ?? [:], of: method) ?? flaw(in: result, schema, at: "result")
  }

  /// What differs from the description in a notification, or nil if nothing does.
  package func flaw(inNotification line: JSON) -> String? {
    guard let name = line["method"]?.string, let notification = description(name, among: "x-notifications") else {
      return "nothing describes the notification \(line)"
    }
    return flaw(in: line["params"]?.object ?? [:], of: notification)
  }

  private func description(_ name: String, among list: String) -> JSON? {
    document[list]?.array?.first { $0["name"]?.string == name }
  }

  private func flaw(inError code: Int, of method: JSON) -> String? {
    // The errors of the specification and of every call are not listed.
    if code < 0 { return nil }
    let codes = (method["errors"]?.array ?? []).compactMap { $0["code"]?.int }
    return codes.contains(code) ? nil : "the error \(code) is not described"
  }

  private func flaw(in params: JSONObject, of description: JSON) -> String? {
    let described = description["params"]?.array ?? []
    for member in params.members {
      guard let param = described.first(where: { $0["name"]?.string == member.key }), let schema = param["schema"]
      else { return "\"\(member.key)\" is not described" }
      if let flaw = flaw(in: member.value, schema, at: member.key) { return flaw }
    }
    let missing = described.first { $0["required"] == true && params[$0["name"]?.string ?? ""] == nil }
    return missing.map { "there is no \($0["name"] ?? "")" }
  }

  private func resolved(_ schema: JSON) -> JSON {
    guard let reference = schema["$ref"]?.string else { return schema }
    return reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
  }

  // MARK: - JSON Schema, as much of it as the document uses

  /// An unknown keyword is a flaw, so that nothing goes unchecked.
  private func flaw(in value: JSON, _ schema: JSON, at place: String) -> String? {
    guard let schema = resolved(schema).object else { return "\(place): nothing describes it" }
    for keyword in schema.members {
      if let flaw = flaw(in: value, keyword, schema, at: place) { return flaw }
    }
    return nil
  }

  private func flaw(in value: JSON, _ keyword: JSONObject.Member, _ schema: JSONObject, at place: String) -> String? {
    func unless(_ isRight: Bool) -> String? { isRight ? nil : "\(place): \(value) is against \(keyword)" }
    switch keyword.key {
    case "type":
      let type = Self.type(of: value)
      return unless(keyword.value.string == type || keyword.value == "number" && type == "integer")
    case "enum": return unless(keyword.value.array?.contains(value) == true)
    case "anyOf": return unless(keyword.value.array?.contains { flaw(in: value, $0, at: place) == nil } == true)
    case "minimum": return unless((value.int ?? .min) >= keyword.value.int ?? .max)
    case "maximum": return unless((value.int ?? .max) <= keyword.value.int ?? .min)
    case "format", "pattern", "contentEncoding":
      // The pattern of a text, which the client that reads it checks.
      return unless(value.string != nil)
    case "default": return nil
    case "items":
      for (index, element) in (value.array ?? []).enumerated() {
        if let flaw = flaw(in: element, keyword.value, at: "\(place)[\(index)]") { return flaw }
      }
      return nil
    case "required":
      return unless(keyword.value.array?.allSatisfy { $0.string.flatMap { value[$0] } != nil } == true)
    case "properties":
      for member in value.object?.members ?? [] {
        guard let schema = keyword.value[member.key] else { return "\(place).\(member.key) is not described" }
        if let flaw = flaw(in: member.value, schema, at: "\(place).\(member.key)") { return flaw }
      }
      return nil
    case "additionalProperties":
      for member in value.object?.members ?? [] {
        if let flaw = flaw(in: member.value, keyword.value, at: "\(place).\(member.key)") { return flaw }
      }
      return nil
    default: return "\(place): the keyword \(keyword.key) is not known here"
    }
  }

  private static func type(of value: JSON) -> String {
    switch value {
    case .null: "null"
    case .bool: "boolean"
    case .number: value.int == nil ? "number" : "integer"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

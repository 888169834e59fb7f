import HearthCore

extension WireType<[APIRequest.Header]> {
  /// An object that contains a string for each header, or an array of strings for repeated headers. Preserves the
  /// order, except that headers with the same name are grouped.
  static var headers: WireType {
    WireType(
      "must be an object of strings",
      .dictionary(of: .any(of: .type("string"), .array(of: .type("string"))))
    ) { json in
      guard let object = json.object else { return nil }
      var headers: [APIRequest.Header] = []
      for member in object.members {
        for element in member.value.array ?? [member.value] {
          guard let text = element.string else { return nil }
          headers.append(APIRequest.Header(name: member.key, value: text))
        }
      }
      return headers
    } write: { headers in
      var object = JSONObject()
      for header in headers {
        let value = JSON.string(header.value)
        switch object[header.name] {
        case nil: object[header.name] = value
        case .array(let values): object[header.name] = .array(values + [value])
        case let first?: object[header.name] = [first, value]
        }
      }
      return .object(object)
    }
  }
}

extension WireType<[UInt8]> {
  static var bytes: WireType {
    WireType<String>.text.mapped(
      "must be Base64 with padding", .type("string", ["contentEncoding": "base64"]), to: { Base64.decode($0) },
      from: { Base64.encode($0) })
  }
}

extension Field where Value == [UInt8] {
  /// Returns the field for the body of a request or response. A body is written as `body` if it is UTF-8 that `isText`
  /// accepts, and otherwise as `bodyBase64`. An object must not contain both members. If an object contains neither,
  /// the body is empty. With `omitsEmpty`, an empty body is not written.
  static func body(
    _ get: @escaping @Sendable (Whole) -> [UInt8], omitsEmpty: Bool = true,
    isText: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Field {
    Field(names: ["body", "bodyBase64"]) { components in
      MemberSchema.optional("body", .type("string"))(&components)
        + MemberSchema.optional("bodyBase64", .type("string", ["contentEncoding": "base64"]))(&components)
    } read: { reader in
      let text = reader.optional("body", .text)
      guard let encoded = reader.optional("bodyBase64", .text) else { return Array((text ?? "").utf8) }
      guard text == nil else {
        reader.refuse("bodyBase64", "cannot be combined with \"body\"")
        throw FieldReader.Refused()
      }
      guard let bytes = Base64.decode(encoded) else {
        reader.refuse("bodyBase64", "must be Base64 with padding")
        throw FieldReader.Refused()
      }
      return bytes
    } write: { whole, _, members in
      let body = get(whole)
      if body.isEmpty, omitsEmpty { return }
      let text = String(validating: body, as: UTF8.self).flatMap { isText($0) ? $0 : nil }
      members.append(
        text.map { JSONObject.Member(key: "body", value: .string($0)) }
          ?? JSONObject.Member(key: "bodyBase64", value: .string(Base64.encode(body))))
    }
  }
}

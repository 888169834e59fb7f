package import HearthCore

/// Describes how values of one type are read from and written to JSON.
package struct WireType<Value>: Sendable {
  let schema: JSONSchema
  /// Reads the value of the named member, or records an error and returns `nil`.
  let read: @Sendable (JSON, _ name: String, inout FieldReader) -> Value?
  /// Writes a value. The timestamp is the time of the answer, to which values such as remaining lifetimes are relative.
  let write: @Sendable (Value, Timestamp) -> JSON
}

extension WireType {
  /// Creates a type. `form` is the error message for values that cannot be read, such as "must be a string".
  init(
    _ form: String, _ schema: JSONSchema, read: @escaping @Sendable (JSON) -> Value?,
    write: @escaping @Sendable (Value) -> JSON
  ) {
    self.init(schema: schema) { json, name, reader in
      let value = read(json)
      if value == nil { reader.refuse(name, form) }
      return value
    } write: { value, _ in
      write(value)
    }
  }

  /// Returns a type whose values are converted from this type's values. `form` is the error message if `to` returns
  /// `nil`. `schema` is a more precise schema, if there is one.
  func mapped<Other>(
    _ form: @autoclosure @escaping @Sendable () -> String, _ schema: JSONSchema? = nil,
    to: @escaping @Sendable (Value) -> Other?, from: @escaping @Sendable (Other) -> Value
  ) -> WireType<Other> {
    WireType<Other>(schema: schema ?? self.schema) { [read] json, name, reader in
      guard let value = read(json, name, &reader) else { return nil }
      let other = to(value)
      if other == nil { reader.refuse(name, form()) }
      return other
    } write: { [write] other, now in
      write(from(other), now)
    }
  }

  /// Returns the same type with an additional check. `fault` returns what is wrong with a value, such as "is empty", or
  /// `nil` if the value is valid.
  func refusing(
    _ rank: FieldReader.Rank = .form, _ schema: JSONSchema? = nil, _ fault: @escaping @Sendable (Value) -> String?
  ) -> WireType {
    WireType(
      schema: schema ?? self.schema,
      read: { [read] json, name, reader in
        guard let value = read(json, name, &reader) else { return nil }
        guard let fault = fault(value) else { return value }
        reader.refuse(name, fault, rank)
        return nil
      }, write: write)
  }

  /// Parses a value from text. Throws -32602 for the parameter `name` if the text is invalid.
  package func value(_ text: String, as name: String) throws -> Value {
    var reader = FieldReader([:])
    guard let value = read(.string(text), name, &reader) else { throw reader.error ?? .invalidParams(name) }
    return value
  }
}

extension WireType<String> {
  static var text: WireType { WireType("must be a string", .type("string"), read: \.string, write: JSON.string) }
}

extension WireType<Name> {
  static var name: WireType { WireType<String>.text.mapped("", to: { Name($0) }, from: \.text) }
}

extension WireType<Bool> {
  static var bool: WireType { WireType("must be true or false", .type("boolean"), read: \.bool, write: JSON.bool) }
}

extension WireType<Int> {
  static var int: WireType { WireType("must be a whole number", .type("integer"), read: \.int) { JSON($0) } }

  /// A non-negative integer that any JSON parser can represent exactly.
  static var count: WireType { .int(in: 0...(1 << 53) - 1) }

  static func int(in range: ClosedRange<Int>) -> WireType {
    int.refusing(.form, .integer(in: range)) { number in
      if number < range.lowerBound { return "must be \(range.lowerBound) or more" }
      return number > range.upperBound ? "must be \(range.upperBound) or less" : nil
    }
  }
}

extension WireType<Duration> {
  /// Returns the type for a duration in whole seconds, rounded towards zero.
  static func seconds(in range: ClosedRange<Int> = Int.min...Int.max) -> WireType {
    WireType<Int>.int(in: range).mapped("", to: { .seconds($0) }, from: { Int($0.components.seconds) })
  }
}

extension WireType<Timestamp> {
  package static var time: WireType<Timestamp> {
    WireType<String>.text.mapped(
      "must be an RFC 3339 time, such as 2026-11-21T10:00:00Z", .type("string", ["format": "date-time"]),
      to: { Timestamp(rfc3339: $0) }, from: \.description)
  }
}

extension WireType where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// One of the raw values of an enumeration.
  package static var choice: WireType {
    WireType<String>.text.mapped(
      "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))",
      .choice(among: Value.allCases.map(\.rawValue)), to: { Value(rawValue: $0) }, from: \.rawValue)
  }
}

extension WireType<AccountName> {
  /// An account name. Invalid names are reported as unknown accounts (1005).
  static var account: WireType {
    WireType(schema: .type("string")) { json, name, reader in
      guard let text = WireType<String>.text.read(json, name, &reader) else { return nil }
      let account = AccountName(text)
      if account == nil { reader.refuse(.unknownAccount(text), .account) }
      return account
    } write: { account, _ in
      .string(account.description)
    }
  }
}

extension WireType<Secret> {
  static var secret: WireType { WireType<String>.text.mapped("", to: { Secret($0) }, from: { $0.reveal() }) }
}

extension WireType<Fingerprint> {
  static var fingerprint: WireType {
    WireType<String>.text.mapped(
      "must be 8 lowercase hex digits", .type("string", ["pattern": "^[0-9a-f]{8}$"]), to: { Fingerprint($0) },
      from: \.description)
  }
}

extension WireType<[String]> {
  static var texts: WireType { .array(of: "strings", "string", \.string, JSON.string) }
}

extension WireType<[Bool]> {
  static var bools: WireType { .array(of: "booleans", "boolean", \.bool, JSON.bool) }
}

extension WireType {
  static func array<Element: Sendable>(
    of elements: String, _ type: String, _ read: @escaping @Sendable (JSON) -> Element?,
    _ write: @escaping @Sendable (Element) -> JSON
  ) -> WireType where Value == [Element] {
    WireType("must be an array of \(elements)", .array(of: .type(type))) { json in
      let found = json.array?.compactMap(read)
      return found?.count == json.array?.count ? found : nil
    } write: { elements in
      .array(elements.map(write))
    }
  }

  /// Returns the type for a set of enumeration cases, written in the order of declaration. `known` lists the cases for
  /// the error message.
  static func set<Element: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
    known: String
  ) -> WireType where Value == Set<Element> {
    let all = Array(Element.allCases)
    return WireType<[String]>.texts.refusing(.meaning, .array(of: .choice(among: all.map(\.rawValue)))) { names in
      names.first { Element(rawValue: $0) == nil }.map { "contains \($0.quotedName), but can contain only \(known)" }
    }.mapped(
      "", to: { names in Set(names.compactMap { Element(rawValue: $0) }) },
      from: { set in all.filter(set.contains).map(\.rawValue) })
  }
}

extension WireType {
  static func object(_ fields: Fields<Value>) -> WireType {
    WireType(schema: .reference(to: fields)) { json, name, reader in
      guard let object = json.object else {
        reader.refuse(name, "must be an object")
        return nil
      }
      return reader.read(object, in: name) { inner in try? inner.read(fields) }
    } write: { value, now in
      .object(fields.object(value, at: now))
    }
  }

  static func array<Element>(_ fields: Fields<Element>) -> WireType where Value == [Element] {
    WireType(schema: .array(of: .reference(to: fields))) { json, name, reader in
      let objects = json.array?.compactMap(\.object)
      guard let objects, objects.count == json.array?.count else {
        reader.refuse(name, "must be an array of objects")
        return nil
      }
      let elements = objects.enumerated().compactMap { index, object in
        reader.read(object, in: "\(name)[\(index)]") { inner in try? inner.read(fields) }
      }
      return elements.count == objects.count ? elements : nil
    } write: { elements, now in
      .array(elements.map { .object(fields.object($0, at: now)) })
    }
  }
}

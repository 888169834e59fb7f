import HearthCore

/// A JSON value (RFC 8259). It preserves the text of numbers and the order of members, so that echoed values do not
/// change.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  /// The original text of a number (section 6).
  case number(String)
  case string(String)
  case array([JSON])
  case object(JSONObject)
}

extension JSON {
  /// Creates a string, or null from `nil`.
  package init(_ text: String?) { self = text.map(JSON.string) ?? .null }

  /// Creates a number, or null from `nil`.
  package init(_ number: Int?) { self = number.map { .number(String($0)) } ?? .null }

  /// Creates a number with the shortest possible text, or null from an infinity or NaN, which JSON cannot represent.
  package init(finite number: Double) {
    self = number.isFinite ? .number(Int(exactly: number).map(String.init) ?? "\(number)") : .null
  }

  package var isNull: Bool { self == .null }

  package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

  /// The number, or `nil` if it is not whole or does not fit in an `Int`. Numbers such as `1e3` and `2.0` are whole.
  package var int: Int? {
    guard case .number(let text) = self else { return nil }
    return Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
  }

  package var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }

  package var string: String? { if case .string(let text) = self { text } else { nil } }

  package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

  /// Returns a member of an object, or `nil` if the member is missing or the value is not an object.
  package subscript(key: String) -> JSON? { object?[key] }

  /// Returns an element of an array, or `nil` if the element is missing or the value is not an array.
  package subscript(index: Int) -> JSON? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(nilLiteral: ()) { self = .null }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int) { self = JSON(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
  }
}

/// A JSON object that preserves the order of its members. Lookups compare keys byte by byte.
package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSON
  }

  package private(set) var members: [Member]

  /// Creates an object. If a key occurs more than once, the subscript uses the first member with that key.
  package init(_ members: [Member] = []) { self.members = members }

  package var isEmpty: Bool { members.isEmpty }
  package var count: Int { members.count }

  /// Gets or sets a member. Setting `nil` removes the member, and setting a new key appends a member.
  package subscript(key: String) -> JSON? {
    get { members.first { $0.key.hasSameBytes(as: key) }?.value }
    set {
      let index = members.firstIndex { $0.key.hasSameBytes(as: key) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(elements.map { Member(key: $0.0, value: $0.1) })
  }
}

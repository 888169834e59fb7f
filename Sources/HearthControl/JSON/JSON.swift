import HearthCore

/// A JSON value (RFC 8259). Numbers keep their text and objects their order, so that an echoed value is unchanged.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSON])
  case object(JSONObject)
}

extension JSON {
  /// The text, or null for `nil`.
  package init(_ text: String?) { self = text.map(JSON.string) ?? .null }

  /// The number, or null for `nil`.
  package init(_ number: Int?) {
    self = number.map { .number(JSONNumber($0)) } ?? .null
  }

  /// The number, or null for an infinity or NaN.
  package init(finite number: Double) { self = JSONNumber(number).map(JSON.number) ?? .null }

  package init(_ flag: Bool) { self = .bool(flag) }

  package var isNull: Bool { self == .null }

  package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

  /// The number if it is whole and fits in an `Int`, otherwise `nil`.
  package var int: Int? { if case .number(let number) = self { number.int } else { nil } }

  package var double: Double? { if case .number(let number) = self { number.double } else { nil } }

  package var string: String? { if case .string(let text) = self { text } else { nil } }

  package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

  /// The member of an object; `nil` if it is missing or this is not an object.
  package subscript(key: String) -> JSON? { object?[key] }

  /// The element of an array; `nil` if it is missing or this is not an array.
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

/// A JSON number (RFC 8259, section 6) as the text that it was written as.
package struct JSONNumber: Hashable, Sendable {
  package let text: String

  /// `text` has been checked by the parser.
  init(parsed text: String) { self.text = text }

  package init(_ value: Int) { text = String(value) }

  /// The shortest text of the number; `nil` for an infinity or NaN, which JSON does not have.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    text = Int(exactly: value).map(String.init) ?? "\(value)"
  }

  /// The nearest `Double`.
  package var double: Double? { Double(text) }

  /// The number if it is whole (also `1e3` and `2.0`) and fits in an `Int`.
  package var int: Int? {
    Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
  }
}

/// A JSON object. Its members keep the order in which they were read or set. Keys are compared byte by byte.
package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSON
  }

  package private(set) var members: [Member]

  /// The caller must keep the keys unique.
  package init(_ members: [Member] = []) { self.members = members }

  package var isEmpty: Bool { members.isEmpty }
  package var count: Int { members.count }

  /// Setting `nil` removes the member. A new key is appended.
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

/// A JSON value (RFC 8259). Numbers keep the text they came in and objects their order, so that what is echoed is
/// what was said.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSON])
  case object(JSONObject)
}

extension JSON {
  /// Null where there is no text.
  package init(_ text: String?) {
    self = text.map(JSON.string) ?? .null
  }

  /// Null where there is no number.
  package init(_ number: Int?) {
    self = number.map { .number(JSONNumber($0)) } ?? .null
  }

  /// Null for an infinity, and for what is no number.
  package init(finite number: Double) {
    self = JSONNumber(number).map(JSON.number) ?? .null
  }

  package init(_ flag: Bool) {
    self = .bool(flag)
  }

  package var isNull: Bool { self == .null }

  package var bool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The number where it is a whole one that fits into an `Int`; else nil.
  package var int: Int? {
    if case .number(let number) = self { number.int } else { nil }
  }

  package var double: Double? {
    if case .number(let number) = self { number.double } else { nil }
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  package var array: [JSON]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  package var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The member of an object; nil where there is none or this is no object.
  package subscript(key: String) -> JSON? { object?[key] }

  /// The element of an array; nil where there is none or this is no array.
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

import HearthControl
import HearthCore

/// A JSON value (RFC 8259). Strings from a parsed document are stream-safe (`String.streamSafe`).
enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Parses JSON. Skips a byte order mark, which some servers send. Returns `nil` if the bytes are not JSON. If an
  /// object repeats a name, the first member counts. A number that is too large becomes null.
  init?(parsing bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes.withoutByteOrderMark, allowsTwins: true) else { return nil }
    self.init(json)
  }

  private init(_ json: JSON) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number:
      let double = json.double.flatMap { $0.isFinite ? JSONValue.number($0) : nil }
      self = json.int.map { .integer(Int64($0)) } ?? double ?? .null
    case .string(let text): self = .string(text.streamSafe)
    case .array(let values): self = .array(values.map { JSONValue($0) })
    case .object(let object):
      self = .object(
        Dictionary(object.members.map { ($0.key.streamSafe, JSONValue($0.value)) }) { first, _ in first })
    }
  }

  var serialized: [UInt8] { json.bytes }

  private var json: JSON {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): JSON(Int(value))
    case .number(let value): JSON(finite: value)
    case .string(let value): .string(value)
    case .array(let values): .array(values.map(\.json))
    case .object(let members): .object(members.reduce(into: JSONObject()) { $0[$1.key] = $1.value.json })
    }
  }

  var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The string, or `nil` if the value is not a string or is empty.
  var text: String? {
    if case .string(let text) = self, !text.isEmpty { text } else { nil }
  }

  /// The value as a name or code: a nonempty string, or an integer as decimal digits. Otherwise `nil`.
  var name: String? {
    if case .integer(let number) = self { String(number) } else { text }
  }

  /// Whether the value is true. Some providers send booleans as strings.
  var isTrue: Bool { self == .bool(true) || self == .string("true") }

  /// The value as a number, or `nil` if it is neither a number nor a decimal string, which some providers send instead.
  var asNumber: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .string(let text): Double(decimal: text)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The object without null members, which some serializers write for missing values. Other values are unchanged.
  var withoutNulls: JSONValue { object.map { .object($0.filter { $1 != .null }) } ?? self }

  subscript(name: String) -> JSONValue? { object?[name] }

  subscript(path: some Sequence<String>) -> JSONValue? {
    path.reduce(Optional(self)) { value, name in value?[name] }
  }
}

extension Double {
  /// Parses a decimal number. Unlike `Double.init(_:)`, rejects "nan", "inf" and hexadecimal numbers.
  init?(decimal text: String) {
    guard text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }) else { return nil }
    self.init(text)
  }
}

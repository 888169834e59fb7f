import FoundationEssentials

/// A JSON value (RFC 8259).
enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Nil where the bytes are not JSON.
  init?(parsing bytes: [UInt8]) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return nil }
    self = value
  }

  /// The text of the value; nil where it holds a number that JSON cannot write.
  var serialized: [UInt8]? {
    (try? JSONEncoder().encode(self)).map(Array.init)
  }

  var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// Nil for the empty string too.
  var text: String? {
    if case .string(let text) = self, !text.isEmpty { text } else { nil }
  }

  /// A name or a code: a text that is not empty, or a whole number.
  var name: String? {
    if case .integer(let number) = self { String(number) } else { text }
  }

  /// A number, or a string that is one.
  var asNumber: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .string(let text): Double(text)
    case .null, .bool, .array, .object: nil
    }
  }

  subscript(name: String) -> JSONValue? { object?[name] }

  subscript(path: some Sequence<String>) -> JSONValue? {
    path.reduce(Optional(self)) { value, name in value?[name] }
  }
}

extension JSONValue: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

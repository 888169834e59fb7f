package import HearthCore

/// Reads the parameters of a call one by one; every error is -32602 and names the parameter.
///
/// A parameter that is null counts as absent. `finish()` refuses parameters that the method does not have.
package struct ParameterReader {
  private let params: JSONObject
  /// What stands before the names in messages: `items[2].`.
  private let prefix: String
  private var known: [String] = []

  package init(_ params: JSONObject, prefix: String = "") {
    self.params = params
    self.prefix = prefix
  }

  private mutating func value(_ name: String) -> JSON? {
    known.append(name)
    guard let value = params[name], !value.isNull else { return nil }
    return value
  }

  private func error(_ name: String, _ what: String) -> RPCError {
    .invalidParams("The parameter \"\(prefix)\(name)\" \(what).")
  }

  private mutating func required<Value>(
    _ name: String, _ read: (inout Self) throws(RPCError) -> Value?
  ) throws(RPCError) -> Value {
    guard let value = try read(&self) else { throw error(name, "is missing") }
    return value
  }

  package mutating func string(_ name: String) throws(RPCError) -> String {
    try required(name) { (reader) throws(RPCError) in try reader.optionalString(name) }
  }

  package mutating func optionalString(_ name: String) throws(RPCError) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string else { throw error(name, "must be a string") }
    return text
  }

  package mutating func int(
    _ name: String, in range: ClosedRange<Int> = Int.min...Int.max
  ) throws(RPCError) -> Int {
    try required(name) { (reader) throws(RPCError) in try reader.optionalInt(name, in: range) }
  }

  package mutating func optionalInt(
    _ name: String, in range: ClosedRange<Int> = Int.min...Int.max
  ) throws(RPCError) -> Int? {
    guard let value = value(name) else { return nil }
    guard let number = value.int else { throw error(name, "must be a whole number") }
    guard number >= range.lowerBound else { throw error(name, "must be \(range.lowerBound) or more") }
    guard number <= range.upperBound else { throw error(name, "must be \(range.upperBound) or less") }
    return number
  }

  package mutating func optionalBool(_ name: String) throws(RPCError) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw error(name, "must be true or false") }
    return flag
  }

  package mutating func bool(_ name: String, default fallback: Bool) throws(RPCError) -> Bool {
    try optionalBool(name) ?? fallback
  }

  /// One of the raw values of an enumeration.
  package mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type = Choice.self
  ) throws(RPCError) -> Choice where Choice.RawValue == String {
    try required(name) { (reader) throws(RPCError) in try reader.optionalChoice(name, of: type) }
  }

  package mutating func optionalChoice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type = Choice.self
  ) throws(RPCError) -> Choice? where Choice.RawValue == String {
    guard let text = try optionalString(name) else { return nil }
    return try Self.choice(text, of: type, as: prefix + name)
  }

  /// The choice that a text names. A text that names no choice is -32602 for the parameter `name`.
  package static func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type = Choice.self, as name: String
  ) throws(RPCError) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidParams("The parameter \"\(name)\" must be one of \(choices).")
    }
    return choice
  }

  package mutating func optionalTime(_ name: String) throws(RPCError) -> Timestamp? {
    try optionalString(name).map { (text) throws(RPCError) in try Self.time(text, as: name) }
  }

  /// The time that a text names (RFC 3339). Any other text is -32602 for the parameter `name`.
  package static func time(_ text: String, as name: String) throws(RPCError) -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else {
      throw .invalidParams("The parameter \"\(name)\" must be a time of RFC 3339, such as 2026-11-21T10:00:00Z.")
    }
    return time
  }

  package mutating func optionalStrings(_ name: String) throws(RPCError) -> [String]? {
    guard let value = value(name) else { return nil }
    guard let elements = value.array else { throw error(name, "must be an array of strings") }
    var texts: [String] = []
    for element in elements {
      guard let text = element.string else { throw error(name, "must be an array of strings") }
      texts.append(text)
    }
    return texts
  }

  /// An array of objects, each with a reader of its own that names the element in its messages.
  package mutating func readers(_ name: String) throws(RPCError) -> [ParameterReader] {
    guard let value = value(name) else { throw error(name, "is missing") }
    guard let elements = value.array else { throw error(name, "must be an array of objects") }
    var readers: [ParameterReader] = []
    for (index, element) in elements.enumerated() {
      guard let object = element.object else { throw error(name, "must be an array of objects") }
      readers.append(ParameterReader(object, prefix: "\(prefix)\(name)[\(index)]."))
    }
    return readers
  }

  /// HTTP header fields in order: an object of strings, or of arrays of strings where a name comes more than once.
  package mutating func headers(_ name: String = "headers") throws(RPCError) -> [(name: String, value: String)] {
    guard let value = value(name) else { return [] }
    guard let object = value.object else { throw error(name, "must be an object of strings") }
    var headers: [(name: String, value: String)] = []
    for member in object.members {
      for element in member.value.array ?? [member.value] {
        guard let text = element.string else { throw error(name, "must be an object of strings") }
        headers.append((member.key, text))
      }
    }
    return headers
  }

  /// `body` (text, as UTF-8) or `bodyBase64`, not both; nil without either.
  package mutating func body() throws(RPCError) -> [UInt8]? {
    let text = try optionalString("body")
    let encoded = try optionalString("bodyBase64")
    guard let encoded else { return text.map { Array($0.utf8) } }
    guard text == nil else { throw error("bodyBase64", "cannot be given together with \"body\"") }
    guard let bytes = Base64.decode(encoded) else { throw error("bodyBase64", "must be Base64 with padding") }
    return bytes
  }

  /// Throws where the call has a parameter that the method does not have.
  package func finish() throws(RPCError) {
    for member in params.members where !known.contains(member.key) {
      throw error(member.key, "is not known")
    }
  }
}

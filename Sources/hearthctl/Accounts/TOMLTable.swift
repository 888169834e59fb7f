import ArgumentParser
import HearthCore

struct TOMLTable {
  enum Value {
    case string(String)
    case integer(Int)
    case flag(Bool)
    case strings([String])
    case table([(key: String, value: String)])
  }

  let path: [String]
  /// Whether the table is an element of a list of tables (`[[path]]`).
  var isElement = false
  var entries: [(key: String, value: Value)] = []

  mutating func set(_ key: String, _ value: String?) {
    if let value { entries.append((key, .string(value))) }
  }

  /// Changes the value of an existing key.
  mutating func replace(_ key: String, with value: String) {
    if let place = entries.firstIndex(where: { $0.key == key }) { entries[place].value = .string(value) }
  }

  mutating func set(_ key: String, _ values: [String]) {
    if !values.isEmpty { entries.append((key, .strings(values))) }
  }

  mutating func set(_ key: String, _ flag: Bool) { entries.append((key, .flag(flag))) }

  /// Returns the table's lines. Throws if a value contains a character that would be invisible in the file.
  func text() throws -> String {
    let header = "[\(try path.map(Self.key).joined(separator: "."))]"
    var lines = isElement ? "[\(header)]\n" : "\(header)\n"
    for (key, value) in entries { lines += "\(key) = \(try Self.text(of: value, for: key))\n" }
    return lines
  }

  static func text(of value: Value, for key: String) throws -> String {
    switch value {
    case .string(let text): return try quoted(text, for: key)
    case .integer(let number): return "\(number)"
    case .flag(let flag): return "\(flag)"
    case .strings(let texts): return "[\(try texts.map { try quoted($0, for: key) }.joined(separator: ", "))]"
    case .table(let pairs):
      let members = try pairs.map { name, text in "\(try self.key(name)) = \(try quoted(text, for: key))" }
      return "{ \(members.joined(separator: ", ")) }"
    }
  }

  /// Returns the text of a list with strings added at the front, except strings that the list already contains.
  static func text(of list: String, adding texts: [String], for key: String) throws -> String {
    guard list.hasPrefix("[") else { throw ValidationError("\"\(key)\" is not a list. Omit --add.") }
    var rest = list.dropFirst()
    for text in texts.reversed() {
      let quoted = try quoted(text, for: key)
      guard !list.contains(quoted) else { continue }
      rest = quoted + (rest.allSatisfy { $0 == "]" || $0.isWhitespace } ? "" : ", ") + rest
    }
    return "[" + rest
  }

  /// Returns a bare key if possible (TOML 1.0.0, "Keys").
  private static func key(_ name: String) throws -> String {
    let isBare = !name.isEmpty && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "_-".utf8.contains($0) }
    return isBare ? name : try quoted(name, for: name)
  }

  /// Returns a basic string (TOML 1.0.0, "String").
  private static func quoted(_ text: String, for key: String) throws -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      guard scalar.isPlain else {
        let number = String(scalar.value, radix: 16, uppercase: true)
        let code = String(repeating: "0", count: max(0, 4 - number.count)) + number
        throw ValidationError(
          "The value of \"\(key)\" contains the invisible character U+\(code). Remove it.")
      }
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

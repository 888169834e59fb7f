import HearthControl
import HearthCore

/// Calls generated from `rpc.discover`: valid ones, and ones with every kind of mistake. The same seed makes the same
/// calls.
struct HostileCalls {
  let document: JSON
  let method: String
  /// Valid values for parameters that accept only certain strings, by name.
  let samples: [String: [String]]
  var random: SeededGenerator

  /// A mark in every generated text. Errors may repeat only the names of things that do not exist.
  static let mark = "hush-"

  private var description: JSON {
    document["methods"]?.array?.first { $0["name"]?.string == method } ?? .null
  }

  /// A valid call, with or without its optional parameters.
  mutating func right() -> String { line(members { calls, schema, name in calls.value(schema, name) }) }

  /// A call with a mistake.
  mutating func wrong() -> String {
    var members = members { calls, schema, name in
      calls.chance(3) ? calls.strange() : calls.value(schema, name)
    }
    if chance(6), let last = members.last { members.append((last.name, strange())) }
    if chance(6) { members.append((text(), strange())) }
    if chance(6), !members.isEmpty { members.removeFirst() }
    if chance(20) { return call(params: strange()) }
    return line(members)
  }

  // MARK: - Parts of a call

  private mutating func members(
    _ make: (inout HostileCalls, JSON, String) -> String
  ) -> [(name: String, json: String)] {
    var members: [(String, String)] = []
    for param in description["params"]?.array ?? [] {
      guard let name = param["name"]?.string, let schema = param["schema"] else { continue }
      if param["required"] != true, chance(2) { continue }
      members.append((quoted(name), make(&self, schema, name)))
    }
    return members
  }

  private func line(_ members: [(name: String, json: String)]) -> String {
    call(params: "{" + members.map { "\($0.name):\($0.json)" }.joined(separator: ",") + "}")
  }

  private func call(params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
  }

  private func quoted(_ text: String) -> String { JSON.string(text).description }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  // MARK: - Values

  /// A value that fits this schema.
  private mutating func value(_ schema: JSON, _ name: String) -> String {
    if let reference = schema["$ref"]?.string {
      let type = reference.split(separator: "/").last.map(String.init) ?? ""
      return value(document["components"]?["schemas"]?[type] ?? .null, name)
    }
    if let choices = schema["anyOf"]?.array, let choice = choices.randomElement(using: &random) {
      return value(choice, name)
    }
    if let choices = schema["enum"]?.array, let choice = choices.randomElement(using: &random) {
      return choice.description
    }
    switch schema["type"]?.string {
    case "integer":
      let (least, most) = (schema["minimum"]?.int ?? -5, schema["maximum"]?.int ?? 5)
      return "\(chance(2) ? Int.random(in: least...most, using: &random) : chance(2) ? least : most)"
    case "boolean": return chance(2) ? "true" : "false"
    case "null": return "null"
    case "array":
      let items = schema["items"] ?? .null
      return "[" + (0..<Int.random(in: 0...3, using: &random)).map { _ in value(items, name) }.joined(separator: ",")
        + "]"
    case "object":
      if let values = schema["additionalProperties"] { return "{\(text()):\(value(values, ""))}" }
      let members = (schema["properties"]?.object?.members ?? []).filter { member in
        schema["required"]?.array?.contains(.string(member.key)) == true || chance(3)
      }
      return "{" + members.map { "\(quoted($0.key)):\(value($0.value, $0.key))" }.joined(separator: ",") + "}"
    default:
      if schema["format"] == "date-time" {
        return quoted("2026-11-2\(Int.random(in: 0...9, using: &random))T10:00:00Z")
      }
      if schema["contentEncoding"] != nil { return quoted("aGVsbG8=") }
      return samples[name]?.randomElement(using: &random).map(quoted) ?? text()
    }
  }

  private static let numbers = [
    "0", "-0", "-1", "1.5", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "1e400", "-1e400", "1e-400", "1E2", "1.0", "2147483647", "2147483648", "301", "3601",
    "1001",
    String(repeating: "9", count: 400),
  ]

  private static let noJSON = ["NaN", "Infinity", "01", "+1", "undefined", "'x'", #""\x""#, ""]

  /// A value of any kind, whatever the schema says.
  private mutating func strange() -> String {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: "null"
    case 1: chance(2) ? "true" : "false"
    case 2, 3, 4: Self.numbers.randomElement(using: &random) ?? "0"
    case 5: chance(4) ? Self.noJSON.randomElement(using: &random) ?? "" : "\"\""
    case 6: "[]"
    case 7: "{}"
    case 8:
      String(repeating: "[", count: 100) + text() + String(repeating: "]", count: 100)
    case 9: "{\(text()):\(text()),\(text()):[\(text())]}"
    default: text()
    }
  }

  private static let pieces = [
    "\\u0000", "\\n", "\\r\\n", "\\u001b[2J", "\\u202e", "\\u200b", "\\ud83d\\ude00", "\\ud800", "é", "𝄞", "\\\"",
    "\\\\",
    "%00", "../", "https://api.example.com/", "http://user@elsewhere.example/", "Bearer ", "\\ufeff", " ", ".", "=",
  ]

  /// A JSON text that contains the mark.
  private mutating func text() -> String {
    var text = Self.mark + "\(UInt32.random(in: 0...UInt32.max, using: &random))"
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let piece = Self.pieces.randomElement(using: &random) ?? ""
      text = chance(2) ? text + piece : piece + text
    }
    if chance(12) { text += String(repeating: "x", count: chance(2) ? 300 : 140_000) }
    return "\"\(text)\""
  }
}

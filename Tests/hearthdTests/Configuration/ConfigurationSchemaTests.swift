import HearthControl
import HearthCore
import TOMLKit
import TestSupport
import Testing

@testable import hearthd

@Suite struct ConfigurationSchemaTests {
  private static let schema = ConfigurationSchema.document

  /// The file in etc/hearth, with all settings that it shows in comments.
  private static func example() throws -> JSON {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let lines = Files.text("/\(root)/etc/hearth/config.toml").split(separator: "\n").map { line in
      line.hasPrefix("#") && line.dropFirst().first.map { $0.isLetter || $0 == "[" } == true ? line.dropFirst() : line
    }
    return try json(lines.joined(separator: "\n"))
  }

  private static func json(_ toml: String) throws -> JSON {
    try JSON(parsing: TOMLTable(string: toml).convert(to: .json))
  }

  @Test("allows the example that is installed, which shows each key")
  func example() throws {
    let example = try Self.example()
    #expect(complaints(of: example, Self.schema).isEmpty)
    var missing = keys(of: Self.schema)
    missing.subtract(shown(in: example, Self.schema))
    // It does nothing any more.
    #expect(missing == ["oidc_agent_socket"])
  }

  @Test(
    "does not allow what the daemon refuses",
    arguments: [
      "colour = 1", "[refresh]\nmargin = 5", "[refresh]\nmargin = \"5 minutes\"", "[refresh]\njitter = 1",
      "[outbox]\nmax_items = 0", "[outbox]\nconcurrency = 1025", "[outbox]\nmax_body = \"1MB\"",
      "[log]\nlevel = \"loud\"",
      "[accounts.\"a b\"]\ntype = \"json\"", "[accounts.a]\nclient_id = \"c\"", "[accounts.a]\ntype = \"saml\"",
      "[accounts.a]\ntype = \"json\"\nscopes = \"openid\"", "[accounts.a]\ntype = \"json\"\nsubject = \"\"",
      "[accounts.a]\ntype = \"json\"\ntoken_parameters = { a = 1 }", "[[use]]\nurl = \"https://a.example\"",
      "[accounts.a]\ntype = \"json\"\n[[accounts.a.delivery]]\nstatus = 200\noutcome = \"dead\"",
      "[accounts.a]\ntype = \"json\"\n[[accounts.a.sinks]]\nformat = \"token\"",
    ])
  func refusals(text: String) throws {
    #expect(!complaints(of: try Self.json(text), Self.schema).isEmpty)
    #expect(throws: ConfigurationError.self) { try ConfigurationTests.read(text) }
  }

  @Test("names the defaults that hold", arguments: ["refresh", "outbox", "log"])
  func defaults(section: String) throws {
    let keys = try #require(Self.schema["properties"]?[section]?["properties"]?.object)
    let lines = try keys.members.map { "\($0.key) = \(try #require($0.value["default"], "\($0.key)"))" }
    #expect(try ConfigurationTests.read("[\(section)]\n" + lines.joined(separator: "\n")) == Configuration())
  }

  /// The names of all keys that a schema has, in whatever table.
  private func keys(of schema: JSON) -> Set<String> {
    let own = schema["properties"]?.object?.members ?? []
    let others = [schema["items"], schema["patternProperties"]?.object?.members.first?.value]
    let inner = own.map(\.value) + others.compactMap(\.self)
    return inner.reduce(into: Set(own.map(\.key))) { $0.formUnion(keys(of: $1)) }
  }

  /// The names of the keys in a value that the schema knows.
  private func shown(in value: JSON, _ schema: JSON) -> Set<String> {
    if let elements = value.array {
      return elements.reduce(into: []) { $0.formUnion(shown(in: $1, schema["items"] ?? [:])) }
    }
    return (value.object?.members ?? []).reduce(into: []) { names, member in
      let known = schema["properties"]?[member.key]
      if known != nil { names.insert(member.key) }
      let inner = known ?? schema["patternProperties"]?.object?.members.first?.value
      names.formUnion(shown(in: member.value, inner ?? [:]))
    }
  }

  /// What a value lacks by the words of JSON Schema that the document uses (draft 7). One that is not known is a complaint.
  private func complaints(of value: JSON, _ schema: JSON) -> [String] {
    (schema.object?.members ?? []).flatMap { word in
      switch word.key {
      case "$schema", "title", "description", "default", "patternProperties": [String]()
      case "type": check(isOf(word.value.string ?? "", value), "\(value) is not \(word.value)")
      case "enum": check(word.value.array?.contains(value) == true, "\(value) is not among \(word.value)")
      case "minLength": check(value.string != "", "it is empty")
      case "pattern": check(matches(word.value, value.string ?? ""), "\(value) is not like \(word.value)")
      case "minimum": check(value.double ?? 0 >= word.value.double ?? 0, "\(value) is too small")
      case "maximum": check(value.double ?? 0 <= word.value.double ?? 0, "\(value) is too large")
      case "exclusiveMaximum": check(value.double ?? 0 < word.value.double ?? 0, "\(value) is too large")
      case "items": (value.array ?? []).flatMap { complaints(of: $0, word.value) }
      case "required": (word.value.array ?? []).filter { value[$0.string ?? ""] == nil }.map { "\($0) is missing" }
      case "anyOf":
        check(word.value.array?.contains { complaints(of: value, $0).isEmpty } == true, "\(value) is none of several")
      case "properties":
        (word.value.object?.members ?? []).flatMap { key in
          value[key.key].map { complaints(of: $0, key.value) } ?? []
        }
      case "additionalProperties":
        (value.object?.members ?? []).filter { schema["properties"]?[$0.key] == nil }.flatMap { member in
          let pattern = schema["patternProperties"]?.object?.members.first
          if let pattern, matches(.string(pattern.key), member.key) {
            return complaints(of: member.value, pattern.value)
          }
          return word.value == false ? ["\(member.key) is not known"] : complaints(of: member.value, word.value)
        }
      default: ["\(word.key) is no word of this test"]
      }
    }
  }

  private func check(_ holds: Bool, _ complaint: String) -> [String] { holds ? [] : [complaint] }

  private func matches(_ pattern: JSON, _ text: String) -> Bool {
    (try? Regex(pattern.string ?? "").firstMatch(in: text)) != nil
  }

  private func isOf(_ type: String, _ value: JSON) -> Bool {
    switch type {
    case "object": value.object != nil
    case "array": value.array != nil
    case "string": value.string != nil
    case "boolean": value.bool != nil
    case "integer": value.int != nil
    case "number": value.double != nil
    default: false
    }
  }
}

import HearthControl
import HearthCore
import HearthOAuth
import HearthStorage
import Logging

/// The configuration keys as a JSON Schema (draft 7), for editors and the manual page hearth.toml(5).
enum ConfigurationSchema {
  static var document: JSON {
    let sinks = JSON.tables(
      SinkSettings.Key.self, "Files that contain a current token while the account is signed in.", required: ["path"])
    let account = table(
      members(ProviderKey.self) + members(CredentialSettings.Key.self) + members(SessionSettings.Key.self)
        + [(AccountConfiguration.sinksKey, sinks)],
      [("anyOf", [["required": ["type"]], ["required": ["provider"]]])])
    let accounts: JSON = [
      "type": "object", "description": "One table for each account: [accounts.NAME].", "additionalProperties": false,
      "patternProperties": ["^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$": account],
    ]
    let sections: [(String, JSON)] = Configuration.Section.allCases.map { section in
      let content =
        switch section {
        case .accounts: accounts
        case .refresh: table(members(RefreshSettings.Key.self), [("description", "When tokens are refreshed.")])
        case .outbox: table(members(OutboxSettings.Key.self), [("description", "Limits and retries of the outbox.")])
        case .log: table(members(Configuration.LogKey.self), [("description", "Logging.")])
        }
      return (section.rawValue, content)
    }
    let keys = members(AccountRules.Key.self) + members(Configuration.DaemonKey.self)
    return table(
      keys + sections,
      [("$schema", "http://json-schema.org/draft-07/schema#"), ("title", "Hearth configuration")])
  }

  fileprivate static func members<Key: DescribedKey>(_: Key.Type) -> [(String, JSON)] {
    Key.allCases.map { ($0.rawValue, $0.description) }
  }

  fileprivate static func table(_ keys: [(String, JSON)], _ more: [(String, JSON)] = []) -> JSON {
    JSON(
      members: more + [("type", "object"), ("additionalProperties", false), ("properties", JSON(members: keys))])
  }
}

extension JSON {
  fileprivate init(members: [(String, JSON)]) {
    self = .object(members.reduce(into: JSONObject()) { $0[$1.0] = $1.1 })
  }
}

protocol DescribedKey: ConfigurationKey {
  /// A schema with the key's allowed values, purpose and default.
  var description: JSON { get }
}

/// The descriptions of keys.
extension JSON {
  private init(_ type: [(String, JSON)], _ text: String, _ fallback: JSON? = nil) {
    let ends: [(String, JSON)] = fallback.map { [("default", $0)] } ?? []
    self.init(members: type + [("description", .string(text))] + ends)
  }

  func noting(_ sentence: String) -> Self {
    var schema = object ?? [:]
    schema["description"] = .string("\(schema["description"]?.string ?? "") \(sentence)")
    return .object(schema)
  }

  private static func textType(_ more: (String, JSON)...) -> [(String, JSON)] { [("type", "string")] + more }

  static func text(_ text: String, _ fallback: JSON? = nil) -> Self { Self(textType(("minLength", 1)), text, fallback) }

  static func texts(_ text: String, among names: [String]? = nil) -> Self {
    let element: JSON = names.map { ["enum": .array($0.map(JSON.string))] } ?? ["type": "string", "minLength": 1]
    return Self([("type", "array"), ("items", element)], text)
  }

  static func choice(_ names: [String], _ text: String, _ fallback: JSON? = nil) -> Self {
    Self([("enum", .array(names.map(JSON.string)))], text, fallback)
  }

  static func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _: Choice.Type, _ text: String, _ fallback: JSON? = nil
  ) -> Self {
    choice(Choice.allCases.map(\.rawValue), text, fallback)
  }

  static func flag(_ text: String, _ fallback: JSON) -> Self { Self([("type", "boolean")], text, fallback) }

  static func integer(_ range: ClosedRange<Int>, _ text: String, _ fallback: JSON? = nil) -> Self {
    let bounds: [(String, JSON)] = [("minimum", JSON(range.lowerBound)), ("maximum", JSON(range.upperBound))]
    return Self([("type", "integer")] + bounds, text, fallback)
  }

  static func fraction(_ text: String, _ fallback: Double) -> Self {
    Self([("type", "number"), ("minimum", 0), ("exclusiveMaximum", 1)], text, JSON(finite: fallback))
  }

  static func duration(_ text: String, _ fallback: JSON? = nil) -> Self {
    Self(textType(("pattern", "^[0-9]+(ms|s|m|h|d)$")), text, fallback)
  }

  static func size(_ text: String, _ fallback: JSON) -> Self {
    Self(textType(("pattern", "^[0-9]+(KiB|MiB|GiB)$")), text, fallback)
  }

  static func fields(_ text: String) -> Self {
    Self([("type", "object"), ("additionalProperties", ["type": "string"])], text)
  }

  static func tables<Key: DescribedKey>(_: Key.Type, _ text: String, required: [String]) -> Self {
    let keys = ConfigurationSchema.table(
      ConfigurationSchema.members(Key.self), [("required", .array(required.map(JSON.string)))])
    return Self([("type", "array"), ("items", keys)], text)
  }

  static func statuses(_ text: String) -> Self {
    let status: JSON = ["type": "integer", "minimum": 300, "maximum": 599]
    return Self([("anyOf", [status, ["type": "array", "items": status]])], text)
  }
}

import HearthCore
import HearthLinux
import HearthOAuth
import HearthStorage
import Logging
import TOMLKit

extension Configuration {
  enum Section: String, ConfigurationKey { case accounts, refresh, outbox, log }

  /// The top-level keys that are neither sections nor account rules.
  enum DaemonKey: String, ConfigurationKey { case oidcAgentSocket = "oidc_agent_socket" }

  enum LogKey: String, ConfigurationKey { case level }

  /// Parses a configuration file. `file` is the path for error messages. `proxies` come from the environment. `state`
  /// provides the default paths of credentials. Sinks and credential files must not use `ownPlaces`.
  init(
    text: String, file: String, roots: PathRoots, proxies: ProxyEnvironment, state: StatePaths? = nil,
    ownPlaces: [OwnPlaces.Place] = []
  ) throws {
    // Reject NUL bytes, because the parser expects a C string and would ignore everything after a NUL.
    guard !text.utf8.contains(0) else { throw ConfigurationError("\(file): the file contains a NUL byte") }
    let text = text.streamSafe
    let lines = LineIndex(text)
    if let found = lines.impossible {
      throw ConfigurationError("\(file):\(found.line): not valid TOML: \(found.reason)")
    }
    let root = try Self.parse(text, file: file)
    let table = ConfigurationTable(
      file: file, roots: roots, values: ConfigurationValue.values(of: root, at: [], lines: lines))
    try table.requireKeys(among: Section.names + DaemonKey.names + AccountRules.Key.names)
    func section(_ section: Section) throws -> ConfigurationTable { try table.table(section.rawValue) }
    guard root["accounts"]?.table != nil || root["accounts"] == nil else {
      throw table.error(at: "accounts", "\"accounts\" must be tables like [accounts.work]")
    }
    accounts = try Self.accounts(section(.accounts), proxies: proxies)
    sinks = try Self.sinks(
      section(.accounts), of: accounts, state, ownPlaces + [.init(file, "the configuration")])
    rules = try AccountRules(reading: TableReader(sharing: table), accounts: accounts.map(\.name))
    refresh = try RefreshSettings(reading: TableReader(section(.refresh)))
    for index in accounts.indices { accounts[index].session.refresh = refresh }
    outbox = try OutboxSettings(reading: TableReader(section(.outbox)))
    outbox.requestTimeout = refresh.requestTimeout
    oidcAgentSocket = try TableReader<DaemonKey>(sharing: table).flag(.oidcAgentSocket) ?? oidcAgentSocket
    logLevel = try TableReader<LogKey>(section(.log)).choice(.level, as: Logger.Level.self) ?? logLevel
  }

  private static func parse(_ text: String, file: String) throws -> TOMLTable {
    do {
      return try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw ConfigurationError("\(file):\(error.source.begin.line): not valid TOML: \(error.description)")
    } catch {
      throw ConfigurationError("\(file): not valid TOML: \(error)")
    }
  }

  private static func accounts(
    _ table: ConfigurationTable, proxies: ProxyEnvironment
  ) throws -> [AccountConfiguration] {
    try table.keys.map { key in
      guard let name = AccountName(key) else {
        throw table.error(
          at: key,
          "\"\(key)\" is not a valid account name: a name has up to 64 letters, digits, _ and -, and begins with a "
            + "letter or digit"
        )
      }
      return try AccountConfiguration(name, reading: table.table(key), proxies: proxies)
    }.sorted { $0.name < $1.name }
  }
}

extension ConfigurationValue {
  fileprivate static func values(
    of table: TOMLTable, at path: [String], lines: LineIndex, within line: Int? = nil
  ) -> [String: ConfigurationValue] {
    var values: [String: ConfigurationValue] = [:]
    for key in table.keys {
      guard let value = table[key] else { continue }
      values[key] = ConfigurationValue(value, at: path + [key], lines: lines, within: line)
    }
    return values
  }

  /// Converts a parsed value. If the value's line is unknown, uses `line`, the line of the surrounding array.
  private init(_ value: any TOMLValueConvertible, at path: [String], lines: LineIndex, within line: Int?) {
    let content: Content =
      switch value.type {
      case .string: .string(value.string ?? "")
      case .int: .integer(value.int ?? 0)
      case .double: .number(value.double ?? .nan)
      case .array:
        .array(
          (value.array ?? TOMLArray()).enumerated().map { index, element in
            ConfigurationValue(element, at: path + ["\(index)"], lines: lines, within: lines.line(of: path))
          })
      case .table: .table(value.table.map { Self.values(of: $0, at: path, lines: lines, within: line) } ?? [:])
      case .bool: .boolean(value.bool ?? false)
      case .date: .other(type: "a date")
      case .time: .other(type: "a time")
      case .dateTime: .other(type: "a date-time")
      }
    self.init(content, line: lines.line(of: path) ?? line)
  }
}

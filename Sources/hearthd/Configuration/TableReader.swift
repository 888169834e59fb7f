import HearthCore
import TOMLKit

/// The text of a configuration file, and what it takes to say where in it something is wrong.
struct ConfigurationSource: Sendable {
  let file: String
  let lines: LineIndex
  let roots: PathRoots

  init(file: String, text: String, roots: PathRoots) {
    self.file = file
    self.roots = roots
    lines = LineIndex(text)
  }

  func error(at path: [String], _ text: String) -> ConfigurationError {
    let line = lines.line(of: path).map { "\($0):" } ?? ""
    return ConfigurationError("\(file):\(line) \(text)")
  }
}

/// Reads one table of the configuration by its keys. `Key` names all that it may have.
struct TableReader<Key: RawRepresentable & CaseIterable & Hashable> where Key.RawValue == String {
  let source: ConfigurationSource
  let path: [String]
  private let table: TOMLTable?

  /// Refuses a table with a key that is not one of `Key`. A table that is not there has no keys.
  init(_ value: (any TOMLValueConvertible)?, at path: [String], of source: ConfigurationSource)
    throws(ConfigurationError)
  {
    self.source = source
    self.path = path
    self.table = value?.table
    guard let value else { return }
    guard let table else { throw source.error(at: path, "\(name) must be a table, not \(value.type.spoken)") }
    let unknown = table.keys.filter { Key(rawValue: $0) == nil }
    let first = unknown.min {
      (source.lines.line(of: path + [$0]) ?? .max) < (source.lines.line(of: path + [$1]) ?? .max)
    }
    if let first { throw source.error(at: path + [first], "unknown key \"\(first)\" in \(name)") }
  }

  /// `[accounts.work]`
  var name: String { path.isEmpty ? "the file" : "[\(path.joined(separator: "."))]" }

  func has(_ key: Key) -> Bool { table?.contains(key: key.rawValue) ?? false }

  /// An error about the value of a key.
  func error(_ key: Key, _ text: String) -> ConfigurationError {
    source.error(at: path + [key.rawValue], "\"\(key.rawValue)\" in \(name) \(text)")
  }

  /// An error about the whole table.
  func error(_ text: String) -> ConfigurationError {
    source.error(at: path, "\(name) \(text)")
  }

  func value(_ key: Key) -> (any TOMLValueConvertible)? { table?[key.rawValue] }

  /// A text that is not empty.
  func string(_ key: Key) throws(ConfigurationError) -> String? {
    guard let value = value(key) else { return nil }
    return try string(value, of: key)
  }

  private func string(_ value: any TOMLValueConvertible, of key: Key) throws(ConfigurationError) -> String {
    guard let text = value.string else { throw error(key, "must be a string, not \(value.type.spoken)") }
    guard !text.isEmpty else { throw error(key, "must not be empty") }
    return text
  }

  func strings(_ key: Key) throws(ConfigurationError) -> [String] {
    guard let value = value(key) else { return [] }
    guard let array = value.array else { throw error(key, "must be an array of strings, not \(value.type.spoken)") }
    var strings: [String] = []
    for element in array {
      guard let text = element.string else {
        throw error(key, "must be an array of strings, and one element is \(element.type.spoken)")
      }
      guard !text.isEmpty else { throw error(key, "has an empty element") }
      strings.append(text)
    }
    return strings
  }

  /// A table of strings, whatever their names, but for those that are Hearth's own to say.
  func fields(_ key: Key, except own: Set<String>) throws(ConfigurationError) -> [String: String] {
    guard let value = value(key) else { return [:] }
    guard let table = value.table else { throw error(key, "must be a table of strings, not \(value.type.spoken)") }
    var fields: [String: String] = [:]
    for name in table.keys.sorted() {
      let place = path + [key.rawValue, name]
      let field = "\"\(name)\" in \"\(key.rawValue)\" of \(self.name)"
      guard !name.isEmpty else { throw error(key, "has a field without a name") }
      guard !own.contains(name) else { throw source.error(at: place, "\(field) cannot be set: Hearth sets it itself") }
      guard let text = table[name]?.string else {
        throw source.error(at: place, "\(field) must be a string, not \(table[name]?.type.spoken ?? "nothing")")
      }
      fields[name] = text
    }
    return fields
  }

  /// One of the raw values of an enumeration.
  func choice<Choice: RawRepresentable & CaseIterable>(_ key: Key, as type: Choice.Type) throws(ConfigurationError)
    -> Choice? where Choice.RawValue == String
  {
    guard let text = try string(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let allowed = Choice.allCases.map { "\"\($0.rawValue)\"" }
      throw error(
        key, "cannot be \"\(text)\": it is \(allowed.dropLast().joined(separator: ", ")) or \(allowed.last ?? "")")
    }
    return choice
  }

  func url(_ key: Key) throws(ConfigurationError) -> HTTPURL? {
    guard let text = try string(key) else { return nil }
    do {
      return try HTTPURL(text)
    } catch {
      throw self.error(key, "cannot be \"\(text.withoutUserInformation)\": \(error)")
    }
  }

  /// An absolute path; `~` at its beginning is the home folder, `%d` that of the service's credentials.
  func path(_ key: Key) throws(ConfigurationError) -> String? {
    guard let text = try string(key) else { return nil }
    do {
      if let path = try source.roots.absolute(text) { return path }
    } catch {
      throw self.error(key, "begins with \(error.sign), and $\(error.variable) is not set")
    }
    throw error(key, "must be a path that begins with /, ~/ or %d/, not \"\(text)\"")
  }

  func duration(_ key: Key, orZero: Bool = false) throws(ConfigurationError) -> Duration? {
    guard let text = try string(key) else { return nil }
    guard let duration = hearthd.duration(from: text) else {
      throw error(key, "must be a duration like \"500ms\", \"30s\", \"5m\", \"6h\" or \"7d\", not \"\(text)\"")
    }
    guard orZero || duration > .zero else { throw error(key, "must be longer than zero") }
    return duration
  }

  func byteCount(_ key: Key) throws(ConfigurationError) -> Int? {
    guard let text = try string(key) else { return nil }
    guard let count = hearthd.byteCount(from: text) else {
      throw error(key, "must be a size like \"64KiB\", \"1MiB\" or \"1GiB\", not \"\(text)\"")
    }
    guard count > 0 else { throw error(key, "must be more than zero") }
    return count
  }

  func integer(_ key: Key, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
    guard let value = value(key) else { return nil }
    guard let number = value.int else { throw error(key, "must be an integer, not \(value.type.spoken)") }
    guard range.contains(number) else {
      throw error(key, "must be between \(range.lowerBound) and \(range.upperBound), not \(number)")
    }
    return number
  }

  /// From 0 up to, and without, 1.
  func fraction(_ key: Key) throws(ConfigurationError) -> Double? {
    guard let value = value(key) else { return nil }
    guard let number = value.double ?? value.int.map(Double.init) else {
      throw error(key, "must be a number, not \(value.type.spoken)")
    }
    guard (0..<1).contains(number) else { throw error(key, "must be at least 0 and less than 1, not \(number)") }
    return number
  }
}

extension String {
  /// A URL, or what was meant for one, without what stands before an @: there may be a password in it.
  var withoutUserInformation: String {
    guard let end = lastIndex(of: "@") else { return self }
    let start = firstRange(of: "://").map(\.upperBound).flatMap { $0 <= end ? $0 : nil } ?? startIndex
    return self[..<start] + "…" + self[end...]
  }
}

extension TOMLType {
  /// With its article, as an error says it.
  fileprivate var spoken: String {
    switch self {
    case .table: "a table"
    case .array: "an array"
    case .string: "a string"
    case .int: "an integer"
    case .double: "a number"
    case .bool: "a boolean"
    case .date: "a date"
    case .time: "a time"
    case .dateTime: "a date with a time"
    }
  }
}

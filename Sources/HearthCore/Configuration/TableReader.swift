/// The keys that one part of Hearth reads from a table in the configuration.
package protocol ConfigurationKey: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

extension ConfigurationKey {
  /// All keys, as spelled in the file.
  package static var names: [String] { allCases.map(\.rawValue) }

  /// Whether the value is the path of a file that contains a secret. Users sometimes paste the secret itself, so error
  /// messages never quote the value.
  fileprivate var isOfSecret: Bool {
    ["client_secret_file", "client_key_file", "key_file", "password_file"].contains(rawValue)
  }
}

/// Reads typed values from a table in the configuration.
///
/// Each method returns `nil` or an empty collection if the key is missing. If the value is invalid, the method throws
/// an error that names the file, the line and the key.
package struct TableReader<Key: ConfigurationKey>: Sendable {
  let table: ConfigurationTable

  /// Creates a reader for a table that several parts of Hearth share. The caller checks the keys with
  /// `requireKeys(among:)`.
  package init(sharing table: ConfigurationTable) { self.table = table }

  /// Creates a reader for a table that only one part of Hearth reads. Throws if the table has a key that is not in
  /// `Key`.
  package init(_ table: ConfigurationTable) throws {
    try table.requireKeys(among: Key.names)
    self.table = table
  }

  package func has(_ key: Key) -> Bool { value(key) != nil }

  package func error(_ key: Key, _ text: String) -> ConfigurationError {
    table.error(at: key.rawValue, "\"\(key.rawValue)\" in \(table.name) \(text)")
  }

  package func error(_ text: String) -> ConfigurationError { table.error(text) }

  private func value(_ key: Key) -> ConfigurationValue? { table.values[key.rawValue] }

  /// Reads a non-empty string.
  package func string(_ key: Key) throws -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value.content else { throw error(key, "must be a string, not \(value.type)") }
    guard !text.isEmpty else { throw error(key, "must not be empty") }
    return text
  }

  package func flag(_ key: Key) throws -> Bool? {
    guard let value = value(key) else { return nil }
    guard case .boolean(let flag) = value.content else { throw error(key, "must be true or false, not \(value.type)") }
    return flag
  }

  package func strings(_ key: Key) throws -> [String] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value.content else {
      throw error(key, "must be an array of strings, not \(value.type)")
    }
    return try elements.map { element in
      guard case .string(let text) = element.content else {
        throw error(key, "must be an array of strings, but one element is \(element.type)")
      }
      guard !text.isEmpty else { throw error(key, "has an empty element") }
      return text
    }
  }

  /// Reads a table of strings with arbitrary keys. Throws if a key is in `own`, because Hearth sets these fields
  /// itself.
  package func fields(_ key: Key, except own: Set<String>) throws -> [String: String] {
    guard let value = value(key) else { return [:] }
    guard case .table(let values) = value.content else {
      throw error(key, "must be a table of strings, not \(value.type)")
    }
    var fields: [String: String] = [:]
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      let field = "\"\(name)\" in \"\(key.rawValue)\" of \(table.name)"
      guard !name.isEmpty else { throw error(key, "must not contain a field with an empty name") }
      guard !own.contains(name) else {
        throw table.error(value.line, "\(field) cannot be set, because Hearth sets it")
      }
      guard case .string(let text) = value.content else {
        throw table.error(value.line, "\(field) must be a string, not \(value.type)")
      }
      fields[name] = text
    }
    return fields
  }

  /// Reads a string that must be a raw value of `type`.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: Key, as type: Choice.Type
  ) throws -> Choice? where Choice.RawValue == String {
    guard let text = try string(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw unknown(text, for: key, allowed: Choice.allCases.map(\.rawValue))
    }
    return choice
  }

  package func unknown(_ text: String, for key: Key, allowed: [String]) -> ConfigurationError {
    let quoted = allowed.map { "\"\($0)\"" }
    return error(
      key, "must be \(quoted.dropLast().joined(separator: ", ")) or \(quoted.last ?? ""), not \"\(text)\"")
  }

  package func url(_ key: Key) throws -> HTTPURL? { try url(key, HTTPURL.init(_:)) }

  /// Reads a URL with `parse`. Its error explains why the value cannot be used.
  package func url<Value>(_ key: Key, _ parse: (String) throws -> Value) throws -> Value? {
    guard let text = try string(key) else { return nil }
    do {
      return try parse(text)
    } catch {
      throw self.error(key, "cannot be \"\(text.withoutSecrets)\": \(error)")
    }
  }

  package func origins(_ key: Key) throws -> [Origin] {
    try strings(key).map { text in
      do {
        let origin = try Origin(ofServer: text)
        guard !text.dropFirst("\(origin.scheme)://".count).contains(where: { $0 == "/" || $0 == "?" }) else {
          throw ConfigurationError("an origin must be scheme://host or scheme://host:port, without a path")
        }
        return origin
      } catch {
        throw self.error(key, "cannot contain \"\(text.withoutSecrets)\": \(error)")
      }
    }
  }

  /// Reads a path and returns it as an absolute path. The value must start with `/`, `~` (the home directory), `%d`
  /// (the service's credentials directory) or `%t` (`$XDG_RUNTIME_DIR`).
  package func path(_ key: Key) throws -> String? {
    guard let text = try string(key) else { return nil }
    if text.hasPrefix("/") { return text }
    let roots = table.roots
    let signs = [
      ("~", roots.home, "HOME"), ("%d", roots.credentials, "CREDENTIALS_DIRECTORY"),
      ("%t", roots.runtime, "XDG_RUNTIME_DIR"),
    ]
    for (sign, root, variable) in signs where text == sign || text.hasPrefix(sign + "/") {
      guard let root else { throw error(key, "begins with \(sign), but $\(variable) is not set") }
      return root + text.dropFirst(sign.count)
    }
    let found = key.isOfSecret ? text.withoutContent : "\"\(text)\""
    throw error(key, "must be a path that begins with /, ~/, %d/ or %t/, not \(found)")
  }

  package func duration(_ key: Key, orZero: Bool = false) throws -> Duration? {
    guard let text = try string(key) else { return nil }
    guard let duration = ConfigurationValue.duration(from: text) else {
      throw error(key, "must be a duration like \"500ms\", \"30s\", \"5m\", \"6h\" or \"7d\", not \"\(text)\"")
    }
    guard orZero || duration > .zero else { throw error(key, "must be greater than zero") }
    return duration
  }

  /// Reads a size with a unit, such as `64KiB`, in bytes.
  package func byteCount(_ key: Key) throws -> Int? {
    guard let text = try string(key) else { return nil }
    guard let count = ConfigurationValue.byteCount(from: text) else {
      throw error(key, "must be a size like \"64KiB\", \"1MiB\" or \"1GiB\", not \"\(text)\"")
    }
    guard count > 0 else { throw error(key, "must be greater than zero") }
    return count
  }

  package func integer(_ key: Key, in range: ClosedRange<Int>) throws -> Int? {
    guard let value = value(key) else { return nil }
    guard case .integer(let number) = value.content else { throw error(key, "must be an integer, not \(value.type)") }
    guard range.contains(number) else {
      throw error(key, "must be between \(range.lowerBound) and \(range.upperBound), not \(number)")
    }
    return number
  }

  /// Reads an integer or an array of integers.
  package func integers(_ key: Key) throws -> [Int] {
    guard let value = value(key) else { return [] }
    let elements = if case .array(let elements) = value.content { elements } else { [value] }
    return try elements.map { element in
      guard case .integer(let number) = element.content else {
        throw error(key, "must be an integer or an array of integers, not \(element.type)")
      }
      return number
    }
  }

  /// Reads an array of tables (`[[…]]`). Throws if any of them has a key that is not in `Inner`.
  package func tables<Inner>(_ key: Key) throws -> [TableReader<Inner>] {
    try table.tables(key.rawValue).map { try TableReader<Inner>($0) }
  }

  /// Reads a number that is at least 0 and less than 1.
  package func fraction(_ key: Key) throws -> Double? {
    guard let value = value(key) else { return nil }
    let number: Double
    switch value.content {
    case .number(let value): number = value
    case .integer(let value): number = Double(value)
    case .string, .boolean, .array, .table, .other: throw error(key, "must be a number, not \(value.type)")
    }
    guard (0..<1).contains(number) else { throw error(key, "must be at least 0 and less than 1, not \(number)") }
    return number
  }
}

extension String {
  /// A description that reveals only the kind and length of this string. Error messages use it for values that may be
  /// secrets.
  package var withoutContent: String { "a \(hasPrefix("/") ? "path" : "string") of \(unicodeScalars.count) characters" }

  /// This string without the parts of a URL that can contain secrets: user information, query and fragment. The string
  /// does not have to be a valid URL.
  package var withoutSecrets: String {
    let end = lastIndex(of: "@")
    let start = firstRange(of: "://").map(\.upperBound).flatMap { $0 <= end ?? startIndex ? $0 : nil } ?? startIndex
    let rest = self[(end ?? startIndex)...]
    let shown = rest.prefix { $0 != "?" && $0 != "#" }
    let cut = rest[shown.endIndex...].first.map { "\($0)…" } ?? ""
    return (end == nil ? "" : self[..<start] + "…") + shown + cut
  }
}

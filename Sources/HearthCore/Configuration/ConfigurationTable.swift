/// A value in the configuration file, with its line number if known.
package struct ConfigurationValue: Sendable {
  package enum Content: Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case array([ConfigurationValue])
    case table([String: ConfigurationValue])
    /// A value of a type that no key accepts. `type` includes the article, as in `a date`.
    case other(type: String)
  }

  package let content: Content
  /// The line number, starting at 1. For a table, this is the line of the header.
  package let line: Int?

  package init(_ content: Content, line: Int?) { (self.content, self.line) = (content, line) }

  /// The type with its article, for use in error messages.
  var type: String {
    switch content {
    case .string: "a string"
    case .integer: "an integer"
    case .number: "a number"
    case .boolean: "a boolean"
    case .array: "an array"
    case .table: "a table"
    case .other(let type): type
    }
  }

  /// Parses a duration such as `500ms`, `30s`, `5m`, `6h` or `7d`. Returns `nil` if the text is invalid or the duration
  /// exceeds 100 years.
  package static func duration(from text: String) -> Duration? {
    let units: [(suffix: String, milliseconds: Int64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    let hundredYears: Int64 = 36_525 * 86_400_000
    return product(of: text, units: units, limit: hundredYears).map { .milliseconds($0) }
  }

  /// Parses a size such as `64KiB`, `1MiB` or `1GiB`. Returns the number of bytes, or `nil` if the text is invalid or
  /// the size exceeds 2^50 bytes.
  package static func byteCount(from text: String) -> Int? {
    product(of: text, units: [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)], limit: 1 << 50).map { Int($0) }
  }

  private static func product(of text: String, units: [(suffix: String, Int64)], limit: Int64) -> Int64? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    let suffix = text[digits.endIndex...]
    guard let unit = units.first(where: { $0.suffix == suffix }), let number = Int64(digits) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit.1)
    return overflow || product > limit ? nil : product
  }
}

/// A table in the configuration file. Each part of Hearth reads its own keys from a table through a `TableReader`.
package struct ConfigurationTable: Sendable {
  let file: String
  let roots: PathRoots
  let path: [String]
  private let line: Int?
  let values: [String: ConfigurationValue]
  let name: String

  /// Creates the top-level table of a file, or a table at `path` whose header is on `line`.
  package init(
    file: String, roots: PathRoots, path: [String] = [], line: Int? = nil, values: [String: ConfigurationValue],
    name: String? = nil
  ) {
    (self.file, self.roots, self.path, self.line, self.values) = (file, roots, path, line, values)
    self.name = name ?? Self.name(path)
  }

  package var keys: [String] { values.keys.sorted() }

  /// Returns the table for `key`, or an empty table if the key is missing.
  package func table(_ key: String) throws -> ConfigurationTable {
    var content: [String: ConfigurationValue] = [:]
    if let value = values[key] {
      guard case .table(let values) = value.content else {
        throw error(at: key, "\(Self.name(path + [key])) must be a table, not \(value.type)")
      }
      content = values
    }
    return Self(file: file, roots: roots, path: path + [key], line: values[key]?.line, values: content)
  }

  /// Returns the tables in an array such as `[[accounts.work.sinks]]`, or an empty array if the key is missing.
  package func tables(_ key: String) throws -> [ConfigurationTable] {
    guard let value = values[key] else { return [] }
    let name = "[\(Self.name(path + [key]))]"
    guard case .array(let elements) = value.content else {
      throw error(at: key, "\(name) must be an array of tables, not \(value.type)")
    }
    return try elements.map { element in
      guard case .table(let values) = element.content else {
        throw error(at: key, "\(name) must contain only tables, but one element is \(element.type)")
      }
      return Self(file: file, roots: roots, path: path + [key], line: element.line, values: values, name: name)
    }
  }

  /// Throws an error that names the first unknown key in the table, if there is one.
  package func requireKeys(among known: [String]) throws {
    let unknown = keys.filter { !known.contains($0) }
    if let first = unknown.min(by: { (values[$0]?.line ?? .max) < (values[$1]?.line ?? .max) }) {
      throw error(at: first, "unknown key \"\(first)\" in \(name)")
    }
  }

  private static func name(_ path: [String]) -> String {
    path.isEmpty ? "the file" : "[\(path.joined(separator: "."))]"
  }

  func error(_ text: String) -> ConfigurationError { error(line, "\(name) \(text)") }

  package func error(at key: String, _ text: String) -> ConfigurationError { error(values[key]?.line, text) }

  func error(_ line: Int?, _ text: String) -> ConfigurationError {
    ConfigurationError("\(file):\(line.map { "\($0):" } ?? "") \(text)")
  }
}

/// The directories that `~`, `%d` and `%t` stand for at the start of a path. Each is `nil` if its environment variable
/// is not set.
package struct PathRoots: Sendable {
  package var home: String?
  /// The service's credentials directory (systemd.exec(5), LoadCredential=).
  package var credentials: String?
  /// The runtime directory (`$XDG_RUNTIME_DIR`), which exists until the user logs out (systemd.unit(5), "Specifiers").
  package var runtime: String?

  package init(home: String? = nil, credentials: String? = nil, runtime: String? = nil) {
    (self.home, self.credentials, self.runtime) = (home, credentials, runtime)
  }
}

/// An error that explains why the configuration, or a file that it names, cannot be used.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

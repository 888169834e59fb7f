/// A value of the configuration file, and the line on which it is written, where that is known.
package struct ConfigurationValue: Sendable {
  package enum Content: Sendable {
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case array([ConfigurationValue])
    case table([String: ConfigurationValue])
    /// A value of a type that no key has, such as `a date`.
    case other(type: String)
  }

  package let content: Content
  /// Counted from 1; of a table, the line of its header.
  package let line: Int?

  package init(_ content: Content, line: Int?) {
    (self.content, self.line) = (content, line)
  }

  /// The type of the value with its article, for error messages.
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
}

/// One table of the configuration file. The parts read it with a `TableReader` for their own keys.
package struct ConfigurationTable: Sendable {
  /// The path of the file, for error messages.
  let file: String
  let roots: PathRoots
  let path: [String]
  private let line: Int?
  let values: [String: ConfigurationValue]
  /// `[accounts.work]`
  let name: String

  /// The table at the top of a file.
  package init(file: String, roots: PathRoots, values: [String: ConfigurationValue]) {
    self.init(file: file, roots: roots, path: [], line: nil, values: values)
  }

  private init(
    file: String, roots: PathRoots, path: [String], line: Int?, values: [String: ConfigurationValue],
    name: String? = nil
  ) {
    (self.file, self.roots, self.path, self.line, self.values) = (file, roots, path, line, values)
    self.name = name ?? Self.name(path)
  }

  /// Sorted.
  package var keys: [String] { values.keys.sorted() }

  /// The table at a key, which has no values where the key is missing.
  package func table(_ key: String) throws(ConfigurationError) -> ConfigurationTable {
    var content: [String: ConfigurationValue] = [:]
    if let value = values[key] {
      guard case .table(let values) = value.content else {
        throw error(at: key, "\(Self.name(path + [key])) must be a table, not \(value.type)")
      }
      content = values
    }
    return Self(file: file, roots: roots, path: path + [key], line: values[key]?.line, values: content)
  }

  /// The tables at a key, as `[[accounts.work.sinks]]` makes them; none where the key is missing.
  package func tables(_ key: String) throws(ConfigurationError) -> [ConfigurationTable] {
    guard let value = values[key] else { return [] }
    let name = "[\(Self.name(path + [key]))]"
    guard case .array(let elements) = value.content else {
      throw error(at: key, "\(name) must be tables with this header, not \(value.type)")
    }
    var tables: [ConfigurationTable] = []
    for element in elements {
      guard case .table(let values) = element.content else {
        throw error(at: key, "\(name) must be tables with this header, and one element is \(element.type)")
      }
      tables.append(
        Self(file: file, roots: roots, path: path + [key], line: element.line, values: values, name: name))
    }
    return tables
  }

  /// Refuses a table with a key that is not known, and names the first one.
  package func requireKeys(among known: [String]) throws(ConfigurationError) {
    let unknown = keys.filter { !known.contains($0) }
    if let first = unknown.min(by: { (values[$0]?.line ?? .max) < (values[$1]?.line ?? .max) }) {
      throw error(at: first, "unknown key \"\(first)\" in \(name)")
    }
  }

  private static func name(_ path: [String]) -> String {
    path.isEmpty ? "the file" : "[\(path.joined(separator: "."))]"
  }

  func error(_ text: String) -> ConfigurationError { error(line, "\(name) \(text)") }

  /// An error that gives the line of a key.
  package func error(at key: String, _ text: String) -> ConfigurationError { error(values[key]?.line, text) }

  func error(_ line: Int?, _ text: String) -> ConfigurationError {
    ConfigurationError("\(file):\(line.map { "\($0):" } ?? "") \(text)")
  }
}

import Glibc
import HearthControl
import HearthCore

/// Prints text or JSON. Text is sanitized, so that terminals receive no control sequences from untrusted sources.
struct Output {
  let isJSON: Bool

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The number of characters that fit on a line. If standard output is not a terminal or does not report its width,
  /// the number is `Int.max`.
  static var columns: Int { columns(of: STDOUT_FILENO) }

  private static func columns(of terminal: Int32) -> Int {
    Screen.size(of: terminal).flatMap { $0.columns > 0 ? $0.columns : nil } ?? .max
  }

  /// Prints one or more lines.
  func line(_ text: String) {
    Self.write(text.shown(limit: .max, keepsLines: true) + "\n", to: STDOUT_FILENO)
  }

  /// Prints text with colours. The text must already be sanitized.
  func painted(_ text: String) {
    Self.write(text + "\n", to: STDOUT_FILENO)
  }

  /// Prints JSON. On a terminal, the JSON is indented. Otherwise, it is on one line.
  func json(_ json: JSON) {
    line(Self.isTerminal ? json.indented() : json.description)
  }

  /// Prints the JSON if requested. Otherwise prints the text, wrapped on a terminal.
  func show(_ json: JSON, _ text: () throws -> String) rethrows {
    try showVerbatim(json) { try text().fitted(to: Self.columns) }
  }

  /// Prints the JSON if requested. Otherwise prints the text.
  func showVerbatim(_ json: JSON, _ text: () throws -> String) rethrows {
    if isJSON { self.json(json) } else { line(try text()) }
  }

  /// Prints bytes from an external source. On a terminal, sanitizes them or, if they are not UTF-8, prints only a note.
  func content(_ bytes: [UInt8]) {
    guard Self.isTerminal else { return Self.write(bytes, to: STDOUT_FILENO) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return Self.note("hearthctl: The response (\(bytes.count) bytes) is not text. Redirect it to a file with >.")
    }
    if !text.isEmpty { line(text.hasSuffix("\n") ? String(text.dropLast()) : text) }
  }

  static func error(_ message: String) {
    prompt("hearthctl: \(message.shown())\n")
  }

  /// Prints one or more lines on standard error.
  static func note(_ message: String) {
    prompt(message.shown(keepsLines: true) + "\n")
  }

  /// Writes text to standard error and wraps it on a terminal. The text must already be sanitized. Does not add a
  /// newline.
  static func prompt(_ text: String) {
    write(text.fitted(to: columns(of: STDERR_FILENO)), to: STDERR_FILENO)
  }

  static func write(_ text: String, to descriptor: Int32) {
    write(Array(text.utf8), to: descriptor)
  }

  /// Writes bytes. If writing to standard output fails, exits, so that scripts never use an incomplete token. Ignores
  /// failures on standard error, because they cannot be reported.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    guard !WholeFile.write(bytes, to: descriptor), descriptor == STDOUT_FILENO else { return }
    error("Cannot write the output: \(reason()).")
    exit(ExitStatus.failed.rawValue)
  }
}

extension JSON {
  /// The members of an object, one per line, without nulls.
  var rows: String {
    (object?.members ?? []).filter { !$0.value.isNull }
      .map { member in
        let value = (member.value.string ?? member.value.description).shown()
        return member.key.padded(to: 16) + value.hanging(16, within: Output.columns)
      }
      .joined(separator: "\n")
  }

  /// Formats the JSON on several lines, with two spaces of indentation per level.
  func indented(_ level: Int = 0) -> String {
    let inner = "\n" + String(repeating: "  ", count: level + 1)
    let outer = "\n" + String(repeating: "  ", count: level)
    switch self {
    case .array(let elements) where !elements.isEmpty:
      return "[" + elements.map { inner + $0.indented(level + 1) }.joined(separator: ",") + outer + "]"
    case .object(let object) where !object.isEmpty:
      let members = object.members.map { inner + JSON.string($0.key).description + ": " + $0.value.indented(level + 1) }
      return "{" + members.joined(separator: ",") + outer + "}"
    case .null, .bool, .number, .string, .array, .object:
      return description
    }
  }
}

import Glibc
import HearthControl
import HearthCore

/// What hearthctl prints: text for people, or JSON. Whatever is in it, nothing but plain text comes out, and the colours
/// of `Paint`.
struct Output {
  let isJSON: Bool

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// How many characters fit on a line: any number where it is no terminal, or one that does not tell.
  static var columns: Int {
    Screen.size(of: STDOUT_FILENO).flatMap { $0.columns > 0 ? $0.columns : nil } ?? .max
  }

  /// One line or several.
  func line(_ text: String) {
    Self.write(text.shown(limit: .max, keepsLines: true) + "\n", to: STDOUT_FILENO)
  }

  /// Text with colours, of which every part was made fit to be shown.
  func painted(_ text: String) {
    Self.write(text + "\n", to: STDOUT_FILENO)
  }

  /// One line; on a terminal indented, for people.
  func json(_ json: JSON) {
    line(Self.isTerminal ? json.indented() : json.description)
  }

  /// As JSON if it was asked for, else what `text` makes.
  func show(_ json: JSON, _ text: () throws -> String) rethrows {
    if isJSON { self.json(json) } else { line(try text()) }
  }

  /// Bytes from outside, as they are; on a terminal as text that can be shown.
  func content(_ bytes: [UInt8]) {
    guard Self.isTerminal else { return Self.write(bytes, to: STDOUT_FILENO) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return Self.note("hearthctl: The answer is not text (\(bytes.count) bytes): send it to a file with >.")
    }
    if !text.isEmpty { line(text.hasSuffix("\n") ? String(text.dropLast()) : text) }
  }

  static func error(_ message: String) {
    write("hearthctl: \(message.shown())\n", to: STDERR_FILENO)
  }

  /// One line or several.
  static func note(_ message: String) {
    write(message.shown(keepsLines: true) + "\n", to: STDERR_FILENO)
  }

  static func write(_ text: String, to descriptor: Int32) {
    write(Array(text.utf8), to: descriptor)
  }

  /// Fails where standard output cannot be written: a caller must not believe that it has a token. What cannot be written
  /// to standard error is dropped, because nothing is left to report it on.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    guard !WholeFile.write(bytes, to: descriptor), descriptor == STDOUT_FILENO else { return }
    error("The output cannot be written: \(reason()).")
    exit(ExitStatus.failed.rawValue)
  }
}

extension JSON {
  /// The members of an object, one a line; those that are null are left out.
  var rows: String {
    (object?.members ?? []).filter { !$0.value.isNull }
      .map { member in
        let value = (member.value.string ?? member.value.description).shown()
        return member.key.padded(to: 16) + value.hanging(16, within: Output.columns)
      }
      .joined(separator: "\n")
  }

  /// Over several lines, two blanks a level.
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

/// Maps keys and tables of a TOML document to line numbers.
///
/// The parser reports line numbers only for syntax errors. This scanner understands just enough of the syntax to find
/// the keys. If the scanner fails, the line numbers of the remaining keys are unknown.
struct LineIndex: Sendable {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lines: [[String]: Int] = [:]
  /// The number of tables in each `[[list]]` so far. Paths contain the index, as in `["accounts", "work", "sinks",
  /// "0"]`.
  private var elements: [[String]: Int] = [:]
  /// The first text that the parser must never see, because it would make the parser abort the process: an invalid
  /// first character in a table name (`[~`) or an array (`[}`), a date with no time after its T (`1979-05-27T:`), or a
  /// key with more than 256 parts.
  private(set) var impossible: (line: Int, reason: String)?
  /// The number of nested arrays and tables around the current position.
  private var depth = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    scan()
  }

  /// Returns the line number of a key or of a table's header, starting at 1. Returns `nil` if it is unknown.
  func line(of path: [String]) -> Int? { lines[path] }

  private mutating func scan() {
    var table: [String] = []
    while skipBlanks(andLines: true) {
      if skip("[") {
        let isElement = skip("[")
        guard mayBeginName() else {
          return give(up: "a table name must begin with a letter, a digit, _, - or a quote")
        }
        guard let path = keyPath() else { return }
        table = path
        record(table)
        if isElement {
          table.append("\(elements[path, default: 0])")
          elements[path, default: 0] += 1
          record(table)
        }
        while skip("]") || skip(" ") || skip("\t") {}
      } else {
        guard pair(in: table) else { return }
      }
    }
  }

  /// Records the line at which a path and its parents first appear. No known key is more than 16 levels deep.
  private mutating func record(_ path: [String]) {
    let path = path.prefix(16)
    for count in path.indices.map({ $0 + 1 }) where lines[Array(path[..<count])] == nil {
      lines[Array(path[..<count])] = line
    }
  }

  /// Returns whether a table's name can begin here. Also returns true for text that the parser reports as an error
  /// instead of aborting the process.
  private mutating func mayBeginName() -> Bool {
    while skip(" ") || skip("\t") {}
    guard let byte else { return true }
    return switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-\"']".utf8.contains(byte)
    }
  }

  private mutating func pair(in table: [String]) -> Bool {
    guard let path = keyPath(), skip("=") else { return false }
    record(table + path)
    return value(at: table + path)
  }

  private mutating func value(at path: [String]) -> Bool {
    guard skipBlanks(andLines: false) else { return false }
    switch bytes[position] {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return string() != nil
    case UInt8(ascii: "["): return list(until: "]") { $0.element(at: path) }
    case UInt8(ascii: "{"): return list(until: "}") { $0.pair(in: path) }
    default:
      return plainValue()
    }
  }

  /// Skips a number, a time or a word.
  private mutating func plainValue() -> Bool {
    var lastTwo: (UInt8, UInt8) = (0, 0)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    while let byte, !"\n,]}#".utf8.contains(byte) {
      if digits.contains(lastTwo.0), lastTwo.1 | 0x20 == UInt8(ascii: "t"), !digits.contains(byte) {
        give(up: "no time follows the date")
        return false
      }
      lastTwo = (lastTwo.1, byte)
      position += 1
    }
    return true
  }

  private mutating func element(at path: [String]) -> Bool {
    guard let byte, byte > UInt8(ascii: " "), byte < 0x7f, byte != UInt8(ascii: "}") else {
      give(up: "an array contains an invalid value")
      return false
    }
    return value(at: path)
  }

  private mutating func give(up reason: String) {
    impossible = impossible ?? (line, reason)
  }

  private mutating func list(until end: Character, _ element: (inout LineIndex) -> Bool) -> Bool {
    depth += 1
    defer { depth -= 1 }
    // Give up at the parser's nesting limit.
    guard depth <= 256 else { return false }
    position += 1
    while skipBlanks(andLines: true) {
      if skip(end) { return true }
      if skip(",") { continue }
      let before = position
      guard element(&self), position > before else { return false }
    }
    return false
  }

  /// Parses a path such as `a.b."c d"`.
  private mutating func keyPath() -> [String]? {
    var path: [String] = []
    repeat {
      _ = skipBlanks(andLines: false)
      guard let key = key() else { return nil }
      path.append(key)
      guard path.count <= 256 else {
        give(up: "a key has more than 256 parts")
        return nil
      }
      _ = skipBlanks(andLines: false)
    } while skip(".")
    return path
  }

  private mutating func key() -> String? {
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return string() }
    let start = position
    while let byte, !" \t\r\n.=]#,}".utf8.contains(byte) { position += 1 }
    return start == position ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Returns the text between the quotes without decoding its escapes.
  private mutating func string() -> String? {
    guard let quote = byte else { return nil }
    let isLong = bytes[position...].starts(with: [quote, quote, quote])
    let fence = Array(repeating: quote, count: isLong ? 3 : 1)
    position += fence.count
    let start = position
    while let byte {
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        position += 1
        if self.byte == UInt8(ascii: "\n") { line += 1 }
      } else if bytes[position...].starts(with: fence) {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        position += fence.count
        // Skip further quotes, because a long string can have quotes directly before its end.
        while isLong, self.byte == quote { position += 1 }
        return text
      } else if byte == UInt8(ascii: "\n") {
        guard isLong else { return nil }
        line += 1
      }
      position += 1
    }
    return nil
  }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(_ character: Character) -> Bool {
    guard byte == character.asciiValue else { return false }
    position += 1
    return true
  }

  /// Skips white space and comments. Returns false at the end of the text.
  private mutating func skipBlanks(andLines: Bool) -> Bool {
    while let byte {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      case UInt8(ascii: "\n") where andLines: line += 1
      case UInt8(ascii: "#") where andLines:
        while let byte = self.byte, byte != UInt8(ascii: "\n") { position += 1 }
        continue
      default: return true
      }
      position += 1
    }
    return false
  }
}

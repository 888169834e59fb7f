/// The line of each key and each table in a TOML document.
///
/// The parser gives lines for syntax errors only. The text has passed the parser before it is scanned here, so the scan
/// reads only as much of the syntax as it needs to find the keys. Where it cannot go on, the lines of the rest are unknown.
struct LineIndex: Sendable {
  private var lines: [[String]: Int] = [:]

  init(_ text: String) {
    var scanner = Scanner(text)
    lines = scanner.scan()
  }

  /// Counted from 1; of a table, the line of its header.
  func line(of path: [String]) -> Int? { lines[path] }
}

private struct Scanner {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lines: [[String]: Int] = [:]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  mutating func scan() -> [[String]: Int] {
    var table: [String] = []
    while skipBlanks(andLines: true) {
      if skip("[") {
        _ = skip("[")
        guard let path = keyPath() else { return lines }
        table = path
        record(table)
        while skip("]") || skip(" ") || skip("\t") {}
      } else {
        guard pair(in: table) else { return lines }
      }
    }
    return lines
  }

  /// Records the line of a path, and of each path that leads to it, where they are mentioned for the first time.
  private mutating func record(_ path: [String]) {
    for count in path.indices.map({ $0 + 1 }) where lines[Array(path[..<count])] == nil {
      lines[Array(path[..<count])] = line
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
    case UInt8(ascii: "["): return list(until: "]") { $0.value(at: path) }
    case UInt8(ascii: "{"): return list(until: "}") { $0.pair(in: path) }
    default:
      while let byte, !"\n,]}#".utf8.contains(byte) { position += 1 }
      return true
    }
  }

  private mutating func list(until end: Character, _ element: (inout Scanner) -> Bool) -> Bool {
    position += 1
    while skipBlanks(andLines: true) {
      if skip(end) { return true }
      if skip(",") { continue }
      guard element(&self) else { return false }
    }
    return false
  }

  /// `a.b."c d"`
  private mutating func keyPath() -> [String]? {
    var path: [String] = []
    repeat {
      _ = skipBlanks(andLines: false)
      guard let key = key() else { return nil }
      path.append(key)
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

  /// The text between the quotes, with its escapes unresolved.
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
        // Up to two quotes may precede the closing ones.
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

  /// Advances to the next byte that is neither blank nor comment; false at the end of the text.
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

import HearthCore

/// A TOML document. Adding or removing a table, or changing a value, leaves all other bytes unchanged.
///
/// This type understands just enough of the syntax (https://toml.io/en/v1.0.0) to find the start and end of each
/// statement. hearthd validates the document before and after a change.
struct TOMLDocument {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Adds a blank line and a table after the last table in `group`, or at the end if the group is empty. The lines of
  /// `table` must end with LF.
  mutating func add(_ table: String, to group: String...) {
    let elements = TOMLElement.all(in: bytes)
    var end = elements.last { $0.kind != .blank }?.range.upperBound ?? 0
    if let last = elements.lastIndex(where: { $0.kind.isContent && $0.table.starts(with: group) }) {
      end = elements[Self.endOfComments(after: last, in: elements)].range.upperBound
    }
    let newline = bytes.usesCarriageReturns ? "\r\n" : "\n"
    var added = end > 0 ? newline : ""
    if end > 0, bytes[end - 1] != UInt8(ascii: "\n") { added += newline }
    added += newline == "\n" ? table : table.replacing("\n", with: newline)
    bytes.insert(contentsOf: added.utf8, at: end)
  }

  /// Removes a table and its subtables. Also removes comments directly above a header or below the last line, and one
  /// adjacent blank line. Returns false if there is no such header.
  mutating func remove(_ path: [String]) -> Bool {
    let elements = TOMLElement.all(in: bytes)
    return remove(elements.indices.filter { elements[$0].kind == .header && elements[$0].table.starts(with: path) })
  }

  /// Removes the table at index `element` of a `[[list]]`, with its comments. Returns false if there is no such table.
  mutating func remove(_ path: [String], element: Int) -> Bool {
    let elements = TOMLElement.all(in: bytes)
    let headers = elements.indices.filter { elements[$0].kind == .header && elements[$0].table == path }
    return headers.indices.contains(element) && remove([headers[element]])
  }

  /// Returns the numbers of the lines with a `default_account` or the header of a `[[use]]` table that selects the
  /// account. The first line is number 1.
  func ruleLines(of account: String) -> [Int] {
    let elements = TOMLElement.all(in: bytes)
    return rules(of: account, in: elements).map { index in
      1 + bytes[..<elements[index].range.lowerBound].count(where: { $0 == UInt8(ascii: "\n") })
    }
  }

  /// Removes `default_account` and `[[use]]` tables that select the account.
  mutating func removeRules(of account: String) {
    let elements = TOMLElement.all(in: bytes)
    _ = remove(rules(of: account, in: elements).filter { elements[$0].kind == .header })
    let rest = TOMLElement.all(in: bytes)
    for index in rules(of: account, in: rest) { bytes.removeSubrange(rest[index].range) }
  }

  private func rules(of account: String, in elements: [TOMLElement]) -> [Int] {
    func isPair(_ element: TOMLElement, _ key: String) -> Bool {
      let pair = element.pair(in: bytes)
      return pair.key == [key]
        && ["\"\(account)\"", "'\(account)'"].map { Array($0.utf8) }.contains(Array(bytes[pair.value]))
    }
    return elements.indices.filter { index in
      let element = elements[index]
      switch element.kind {
      case .blank, .comment: return false
      case .pair: return element.table.isEmpty && isPair(element, "default_account")
      case .header:
        let lines = elements[(index + 1)...].prefix { $0.kind != .header }
        return element.table == ["use"] && lines.contains { $0.kind == .pair && isPair($0, "account") }
      }
    }
  }

  private mutating func remove(_ headers: [Int]) -> Bool {
    let elements = TOMLElement.all(in: bytes)
    var isRemoved = [Bool](repeating: false, count: elements.count)
    for index in headers {
      let start = elements[..<index].lastIndex { $0.kind != .comment }.map { $0 + 1 } ?? 0
      let next = elements[(index + 1)...].firstIndex { $0.kind == .header } ?? elements.count
      let last = elements[index..<next].lastIndex { $0.kind.isContent } ?? index
      for position in start...Self.endOfComments(after: last, in: elements) { isRemoved[position] = true }
    }
    guard isRemoved.contains(true) else { return false }
    // Also remove the blank line before the removed part or, at the start of the file, the blank line after it.
    for index in elements.indices.dropLast() where elements[index].kind == .blank && !isRemoved[index] {
      isRemoved[index] = isRemoved[index + 1] && elements[index + 1].kind != .blank
    }
    if let kept = isRemoved.firstIndex(of: false), kept > 0, elements[kept].kind == .blank { isRemoved[kept] = true }
    bytes = zip(elements, isRemoved).filter { !$0.1 }.flatMap { bytes[$0.0.range] }
    return true
  }

  /// Replaces the value of a key with the result of `change`, which receives the current text, or `nil` if the key is
  /// missing. Preserves a comment after the value. Adds a missing key at the end of the table. If `change` returns
  /// `nil`, the key's lines are removed. Returns false if there is no such header.
  mutating func change(_ key: String, in path: [String], _ change: (String?) throws -> String?) rethrows -> Bool {
    let elements = TOMLElement.all(in: bytes)
    guard let header = elements.firstIndex(where: { $0.kind == .header && $0.table == path }) else { return false }
    let next = elements[(header + 1)...].firstIndex { $0.kind == .header } ?? elements.count
    for element in elements[header..<next] where element.kind == .pair {
      let pair = element.pair(in: bytes)
      guard pair.key == [key] else { continue }
      if let value = try change(String(decoding: bytes[pair.value], as: UTF8.self)) {
        bytes.replaceSubrange(pair.value, with: value.utf8)
      } else {
        bytes.removeSubrange(element.range)
      }
      return true
    }
    guard let value = try change(nil) else { return true }
    let last = elements[header..<next].last { $0.kind.isContent } ?? elements[header]
    let newline = bytes.usesCarriageReturns ? "\r\n" : "\n"
    let isEnded = bytes[last.range.upperBound - 1] == UInt8(ascii: "\n")
    bytes.insert(contentsOf: ((isEnded ? "" : newline) + "\(key) = \(value)\(newline)").utf8, at: last.range.upperBound)
    return true
  }

  /// Returns the index of the last comment that directly follows the element at `index`. Returns `index` if there are
  /// no comments or if they belong to the next header.
  private static func endOfComments(after index: Int, in elements: [TOMLElement]) -> Int {
    let next = elements[(index + 1)...].firstIndex { $0.kind != .comment }
    if let next, elements[next].kind == .header { return index }
    return (next ?? elements.count) - 1
  }
}

/// A statement of a TOML document, a comment or a blank line.
struct TOMLElement {
  enum Kind {
    case blank, comment, header
    /// A key and its value. The value may span several lines.
    case pair

    var isContent: Bool { self == .header || self == .pair }
  }

  let kind: Kind
  /// The table that the element starts or belongs to.
  let table: [String]
  /// The range of the element, including its newline.
  let range: Range<Int>

  /// Returns the key of a pair and the range of its value.
  func pair(in bytes: [UInt8]) -> (key: [String], value: Range<Int>) {
    var scanner = Scanner(bytes: bytes, position: range.lowerBound)
    return scanner.pair()
  }

  static func all(in bytes: [UInt8]) -> [TOMLElement] {
    Array(IteratorSequence(Scanner(bytes: bytes)))
  }
}

private struct Scanner: IteratorProtocol {
  let bytes: [UInt8]
  var position = 0
  /// The table of the last header.
  var table: [String] = []

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func next() -> TOMLElement? {
    let start = position
    guard start < bytes.count else { return nil }
    // Skip a byte order mark at the start of the file, because it is not part of the first statement.
    if start == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    skipBlanks()
    let kind: TOMLElement.Kind
    switch byte {
    case nil, UInt8(ascii: "\n"), UInt8(ascii: "\r"): kind = .blank
    case UInt8(ascii: "#"): kind = .comment
    case UInt8(ascii: "["):
      kind = .header
      table = name()
    default: kind = .pair
    }
    skipStatement()
    // Stay within the text, because an escape in an unterminated string may extend beyond the end.
    position = min(position, bytes.count)
    return TOMLElement(kind: kind, table: table, range: start..<position)
  }

  /// Parses the pair at the current position.
  mutating func pair() -> ([String], Range<Int>) {
    skipBlanks()
    let key = name()
    while let byte, byte != UInt8(ascii: "=") {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { skipString() } else { position += 1 }
    }
    position += 1
    skipBlanks()
    let start = position
    skipStatement(toComment: true)
    var end = position
    while end > start, " \t\r\n".utf8.contains(bytes[end - 1]) { end -= 1 }
    return (key, start..<end)
  }

  private mutating func skipBlanks() {
    while let byte, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
  }

  /// Skips to the next statement, past the first newline that is not in a string or in brackets. If `toComment` is set,
  /// stops at a comment.
  private mutating func skipStatement(toComment: Bool = false) {
    var depth = 0
    while let byte {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        skipString()
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: "#"):
        if toComment, depth <= 0 { return }
        while let byte = self.byte, byte != UInt8(ascii: "\n") { position += 1 }
        continue
      case UInt8(ascii: "\n") where depth <= 0:
        position += 1
        return
      default: break
      }
      position += 1
    }
  }

  /// Skips a string, or the rest of the line if the closing quotes are missing. Returns the text between the quotes.
  @discardableResult
  private mutating func skipString() -> String {
    let quote = bytes[position]
    let isLong = bytes[position...].starts(with: [quote, quote, quote])
    let fence = [UInt8](repeating: quote, count: isLong ? 3 : 1)
    position += fence.count
    let start = position
    while let byte {
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        position += 1
      } else if bytes[position...].starts(with: fence) {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        position += fence.count
        // Skip up to two more quotes, because the text of a multi-line string may end with quotes.
        while isLong, self.byte == quote { position += 1 }
        return text
      } else if byte == UInt8(ascii: "\n"), !isLong {
        break
      }
      position += 1
    }
    return String(decoding: bytes[start..<min(position, bytes.count)], as: UTF8.self)
  }

  /// Returns the name in `[a."b c"]` without advancing. Quoted names keep their escapes.
  private func name() -> [String] {
    var scanner = self
    while scanner.byte == UInt8(ascii: "[") { scanner.position += 1 }
    var path: [String] = []
    while true {
      scanner.skipBlanks()
      guard let byte = scanner.byte else { return path }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        path.append(scanner.skipString())
      } else {
        let start = scanner.position
        while let byte = scanner.byte, !" \t\r\n.]#=".utf8.contains(byte) { scanner.position += 1 }
        path.append(String(decoding: bytes[start..<scanner.position], as: UTF8.self))
      }
      scanner.skipBlanks()
      guard scanner.byte == UInt8(ascii: ".") else { return path }
      scanner.position += 1
    }
  }
}

extension [UInt8] {
  /// Whether lines end with CR LF, as on Windows.
  fileprivate var usesCarriageReturns: Bool {
    guard let end = firstIndex(of: UInt8(ascii: "\n")), end > 0 else { return false }
    return self[end - 1] == UInt8(ascii: "\r")
  }
}

/// The text of a netrc file (netrc(5)) with entries for Hearth's accounts. Edits leave all other lines unchanged, byte
/// for byte.
///
/// Hosts have no port, because curl, Python and other programs compare only the host name. Hearth's entries come first,
/// because curl and Go stop reading at `default`, and because a macro could absorb later lines. The comment before each
/// entry is one word, because Python treats the following words of some comments as keywords.
package struct NetrcText: Sendable {
  /// A problem in one line that keeps Hearth from changing the file.
  package struct Fault: Error, Hashable, Sendable {
    /// The line number, starting at 1.
    package let line: Int
    /// The problem, as the end of a sentence that starts with the line number.
    package let text: String
  }

  package struct Entry: Hashable, Sendable {
    package let host: String
    package let login: String
    package let password: Secret

    /// Returns `nil` unless each value is a word (`isWord`).
    package init?(host: String, login: String, password: Secret) {
      guard [host, login, password.reveal()].allSatisfy(NetrcText.isWord) else { return nil }
      (self.host, self.login, self.password) = (host, login, password)
    }
  }

  private typealias Word = (text: String, line: Int, start: Int)

  private let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns whether all programs read the text as the same word. The text must be visible ASCII without double quotes
  /// or backslashes, and must not start with `#`.
  package static func isWord(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("#")
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\".utf8.contains($0) }
  }

  /// Returns the comment that precedes each entry of an account.
  package static func mark(_ account: AccountName) -> String { "#hearthd:\(account)" }

  /// Returns the text with `entries` in place of the account's current entries. Throws if the text cannot be parsed, or
  /// if another entry is for one of the hosts and has the same login or no login.
  package func with(_ entries: [Entry], of account: AccountName) throws -> [UInt8] {
    for other in try logins(except: account) {
      guard let entry = entries.first(where: { $0.host == other.host.lowercased() }) else { continue }
      guard let login = other.login else {
        throw Fault(line: other.line, text: "has an entry for \(entry.host) without a login; remove it or add a login")
      }
      guard login != entry.login else {
        throw Fault(
          line: other.line, text: "already has this login for \(entry.host); remove it or choose another login")
      }
    }
    let own = entries.map { entry in
      "\(Self.mark(account))\nmachine \(entry.host) login \(entry.login) password \(entry.password.reveal())\n"
    }
    return Array(own.joined().utf8) + without(account)
  }

  /// Returns the text without the account's entries, even if the rest cannot be parsed.
  package func without(_ account: AccountName) -> [UInt8] {
    let mark = Array(Self.mark(account).utf8)
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    var rest: [ArraySlice<UInt8>] = []
    while let line = lines.popFirst() {
      if line.elementsEqual(mark), lines.first?.starts(with: "machine ".utf8) == true {
        lines.removeFirst()
      } else {
        rest.append(line)
      }
    }
    return Array(rest.joined(separator: [0x0A]))
  }

  /// Returns all machines with their logins, except the account's own.
  private func logins(except account: AccountName) throws -> [(host: String, login: String?, line: Int)] {
    var found: [(host: String, login: String?, line: Int)] = []
    var (place, line, isEntry, isOwn) = (0, 1, false, false)
    while let word = try word(at: &place, &line) {
      if word.text.hasPrefix("#") {
        if word.text == Self.mark(account) { isOwn = true }
        place = end(of: word.start)
        continue
      }
      switch word.text {
      case "machine":
        let host = try value(of: word, at: &place, &line)
        found.append((isOwn ? "" : host, nil, word.line))
        (isEntry, isOwn) = (true, false)
      case "default":
        found.append(("", nil, word.line))
        isEntry = true
      case "macdef":
        _ = try value(of: word, at: &place, &line)
        skipMacro(from: &place, &line)
        isEntry = false
      case "login", "user", "password", "passwd", "account", "port":
        guard isEntry else { throw Fault(line: word.line, text: "has \"\(word.text)\" before the first \"machine\"") }
        let value = try value(of: word, at: &place, &line)
        if ["login", "user"].contains(word.text) { found[found.count - 1].login = value }
      default: throw Fault(line: word.line, text: "has an unknown keyword")
      }
    }
    return found.filter { !$0.host.isEmpty }
  }

  private func value(of key: Word, at place: inout Int, _ line: inout Int) throws -> String {
    guard let value = try word(at: &place, &line) else {
      throw Fault(line: key.line, text: "has \"\(key.text)\" without a value")
    }
    return value.text
  }

  /// Returns the next word, or `nil` at the end of the text. A word ends at white space or at its closing quote, and
  /// `\` escapes the next character.
  private func word(at place: inout Int, _ line: inout Int) throws -> Word? {
    while place < bytes.count, Self.isBlank(bytes[place]) {
      if bytes[place] == 0x0A { line += 1 }
      place += 1
    }
    guard place < bytes.count else { return nil }
    let start = place
    let isQuoted = bytes[place] == UInt8(ascii: "\"")
    if isQuoted { place += 1 }
    var text: [UInt8] = []
    while place < bytes.count, isQuoted ? bytes[place] != UInt8(ascii: "\"") : !Self.isBlank(bytes[place]) {
      if bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count { place += 1 }
      guard bytes[place] != 0, bytes[place] != 0x0A || !isQuoted else { break }
      text.append(bytes[place])
      place += 1
    }
    if place < bytes.count, bytes[place] == 0 { throw Fault(line: line, text: "contains a NUL byte") }
    if isQuoted {
      guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
        throw Fault(line: line, text: "has an unclosed quote")
      }
      place += 1
    }
    return (String(decoding: text, as: UTF8.self), line, start)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  /// Returns the index of the end of the line, before its newline.
  private func end(of place: Int) -> Int { bytes[place...].firstIndex(of: 0x0A) ?? bytes.count }

  /// Skips a macro, which ends at the first empty line.
  private func skipMacro(from place: inout Int, _ line: inout Int) {
    place = end(of: place)
    while place < bytes.count {
      let next = place + 1
      line += 1
      place = end(of: next)
      if bytes[next..<place].allSatisfy({ $0 == 0x0D }) { return }
    }
  }
}

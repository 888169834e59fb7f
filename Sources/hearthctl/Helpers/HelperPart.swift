import Glibc
import HearthControl
import HearthCore

extension HelperTool {
  /// Returns the words that identify each entry for the tool. The last word of an entry is the server that receives the
  /// token.
  func setUps() -> [String] {
    var found: [String] = []
    for part in parts {
      switch part {
      case .lines(let file, let rival, let added):
        let lines = HelperLines(Self.text(file.path()), of: name)
        found += lines.blocks.map(\.words) + lines.others(rival, added)
      case .member(let file, let path, let value): found += Self.members(Self.text(file.path()), path, value)
      // Skip the program, because the tool's other part identifies the entry.
      case .program: break
      }
    }
    return found
  }

  /// Writes the tool's configuration. Returns the files that changed.
  func install(_ target: HelperTarget) throws -> [String] {
    // Before writing any part, check that all parts can be written.
    for part in parts { _ = try part.write(name, target, isTrial: true) }
    return try parts.compactMap { try $0.write(name, target, isTrial: false) }
  }

  /// Removes the entry that these words identify. Returns the files that changed.
  func remove(_ words: String) throws -> [String] {
    let isLast = setUps().count == 1
    return try parts.compactMap { part in
      switch part {
      case .lines(let file, _, _):
        return try Self.edit(file.path()) { HelperLines($0, of: name).without(words) }
      case .member(let file, let path, let value):
        return try Self.edit(file.path()) { text in
          guard let json = try? JSON(parsing: Array(text.utf8)) else { return text }
          let isNamed = path.last == "{host}"
          let member = isNamed ? Array(path.dropLast()) + [words] : path
          guard let set = json.member(member)?.string, Self.isOurs(set, value) else { return text }
          return json.setting(member, to: nil).indented() + "\n"
        }
      case .program(let file, _):
        let accounts = words.split(separator: " ").dropLast().map(String.init)
        let path = file.path(try HelperTarget(account: accounts.first, url: "https://any/"))
        guard isLast || path.contains(accounts.first ?? "\0"), HelperLines.isOurs(Self.text(path)) else { return nil }
        return unlink(path) == 0 ? path : nil
      }
    }
  }

  /// Returns whether the value looks like one that Hearth writes, for any account and server.
  fileprivate static func isOurs(_ value: String, _ template: String) -> Bool {
    value.hasPrefix(template.prefix { $0 != "{" })
  }

  private static func members(_ text: String, _ path: [String], _ value: String) -> [String] {
    guard let json = try? JSON(parsing: Array(text.utf8)) else { return [] }
    if path.last == "{host}" {
      let members = json.member(Array(path.dropLast()))?.object?.members ?? []
      return members.filter { $0.value.string == value }.map(\.key)
    }
    guard let set = json.member(path)?.string, isOurs(set, value) else { return [] }
    // The command is: hearthctl token ACCOUNT … URL
    let words = set.split(separator: " ").map(String.init)
    return [words.count > 3 ? "\(words[2]) \(words[words.count - 1])" : set]
  }

  fileprivate static func text(_ path: String) -> String {
    (try? Input.file(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Edits a file. Returns its path if the text changed.
  fileprivate static func edit(
    _ path: String, isTrial: Bool = false, mode: mode_t? = nil, _ change: (String) throws -> String
  ) throws -> String? {
    let edit = try ConfigurationEdit(path)
    let before = String(decoding: edit.bytes ?? [], as: UTF8.self)
    let after = try change(before)
    guard after != before else { return nil }
    try edit.replace(with: Array(after.utf8), isTrial: isTrial) { draft in
      if let mode { chmod(draft, mode) }
    }
    return path
  }
}

extension HelperTool.Part {
  /// Writes the part. Returns the file if it changed. In a trial, returns the file if it would change.
  fileprivate func write(_ tool: String, _ target: HelperTarget, isTrial: Bool) throws -> String? {
    let path = file.path(target)
    return try HelperTool.edit(path, isTrial: isTrial, mode: mode) { text in
      switch self {
      case .lines(_, let rival, let added):
        let (rest, lines) = (HelperLines(text, of: tool), added.map(target.filled))
        guard !rest.holds(lines) else { return text }
        // Change nothing if the user already has lines with the same effect.
        if rest.others(rival, added).contains(where: { target.isMeant(by: $0) }) { return text }
        if let line = rest.line(beginning: target.filled(rival), besides: target.words) {
          throw CommandFailure(
            .failed,
            "Line \(line) of \(path) conflicts with what Hearth would add. Nothing was changed. Remove the "
              + "conflicting setting, or add --print to see what Hearth would write.")
        }
        return rest.with(lines, target.words)
      case .member(_, let path, let value):
        let (member, value) = (path.map(target.filled), target.filled(value))
        guard let json = text.isEmpty ? .object([:]) : try? JSON(parsing: Array(text.utf8)), json.object != nil else {
          throw CommandFailure(
            .failed, "\(self.file.path(target)) is not a JSON object. Add --print to see what Hearth would write.")
        }
        let set = json.member(member)
        if let set, !(set.string.map { HelperTool.isOurs($0, path.last == "{host}" ? value : value.verb) } ?? false) {
          throw CommandFailure(
            .failed,
            "\(self.file.path(target)) already sets \(member.joined(separator: ".")) to another value. Nothing was "
              + "changed. Remove that setting, or add --print to see what Hearth would write.")
        }
        return set?.string == value ? text : json.setting(member, to: .string(value)).indented() + "\n"
      case .program(_, let lines):
        let program = HelperLines.program(tool, lines.map(target.filled))
        guard text.isEmpty || text == program else {
          throw CommandFailure(
            .failed,
            HelperLines.isOurs(text)
              ? "\(path) is set up for another server or account. Run \"hearthctl helper remove \(tool)\" first."
              : "\(path) was not written by Hearth, so it was not changed. Remove or rename that file first.")
        }
        return program
      }
    }
  }

  /// Returns the content of the part for users who edit the file themselves.
  func shown(_ tool: String, _ target: HelperTarget) -> String {
    switch self {
    case .lines(_, _, let lines): lines.map(target.filled).joined(separator: "\n")
    case .member(_, let path, let value):
      JSON.object([:]).setting(path.map(target.filled), to: .string(target.filled(value))).indented()
    case .program(_, let lines): HelperLines.program(tool, lines.map(target.filled)).trimmingNewline()
    }
  }

  var file: HelperFile {
    switch self {
    case .lines(let file, _, _), .member(let file, _, _), .program(let file, _): file
    }
  }

  private var mode: mode_t? { if case .program = self { 0o700 } else { nil } }
}

/// The lines of a file, including the blocks that Hearth has written.
struct HelperLines {
  private let tool: String
  private let lines: [String]
  /// The range of each block, and the words that identify it.
  private(set) var blocks: [(words: String, range: Range<Int>)] = []

  init(_ text: String, of tool: String) {
    self.tool = tool
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var begin: Int?
    for (index, line) in lines.enumerated() {
      if line.hasPrefix(Self.begin(tool, "")) { begin = index }
      if line == Self.end(tool), let first = begin {
        blocks.append((String(lines[first].dropFirst(Self.begin(tool, "").count)), first..<index + 1))
        begin = nil
      }
    }
  }

  private static func begin(_ tool: String, _ words: String) -> String { "# >>> hearthctl helper: \(tool) \(words)" }
  private static func end(_ tool: String) -> String { "# <<< hearthctl helper: \(tool)" }

  static func program(_ tool: String, _ lines: [String]) -> String {
    (["#!/bin/sh", "# Written by \"hearthctl helper install \(tool)\"."] + lines).joined(separator: "\n") + "\n"
  }

  static func isOurs(_ program: String) -> Bool {
    program.hasPrefix("#!/bin/sh\n# Written by \"hearthctl helper install ")
  }

  /// Returns whether a block contains exactly these lines, regardless of its words.
  func holds(_ added: [String]) -> Bool { blocks.contains { Array(lines[$0.range].dropFirst().dropLast()) == added } }

  /// Returns the number of the first line that starts with `text`, ignoring leading white space. Skips the block with
  /// these words.
  func line(beginning text: String, besides words: String) -> Int? {
    let own = blocks.first { $0.words == words }?.range
    for (index, line) in lines.enumerated() where own?.contains(index) != true {
      if line.trimmingBlanks().hasPrefix(text) { return index + 1 }
    }
    return nil
  }

  /// Returns the words of entries that the user wrote outside Hearth's blocks. Such an entry is a section that starts
  /// like `rival` and contains a line that starts like the last line of `added`.
  func others(_ rival: String, _ added: [String]) -> [String] {
    func start(_ text: String) -> String { String(text.trimmingBlanks().prefix { $0 != "{" }) }
    let (section, command) = (start(rival), start(added.last ?? ""))
    guard section.hasPrefix("["), command.contains("hearthctl") else { return [] }
    var found: [String] = []
    var url: String?
    for (index, line) in lines.enumerated() where !blocks.contains(where: { $0.range.contains(index) }) {
      let line = line.trimmingBlanks()
      if line.hasPrefix("[") {
        url = line.hasPrefix(section) ? String(line.dropFirst(section.count).prefix { $0 != "\"" }) : nil
      } else if let place = url, line.hasPrefix(command) {
        let words = line.dropFirst(command.count).split(separator: " ")
        let account = words.first == "--account" ? words.dropFirst().first : nil
        found.append([account.map(String.init), place].compactMap(\.self).joined(separator: " "))
      }
    }
    return found
  }

  /// Adds a block, or replaces the block with the same words.
  func with(_ added: [String], _ words: String) -> String {
    let block = [Self.begin(tool, words)] + added + [Self.end(tool)]
    if let same = blocks.first(where: { $0.words == words }) {
      return (lines[..<same.range.lowerBound] + block + lines[same.range.upperBound...]).joined(separator: "\n")
    }
    let before = lines.last == "" ? Array(lines.dropLast()) : lines
    return (before + block + [""]).joined(separator: "\n")
  }

  func without(_ words: String) -> String {
    guard let block = blocks.first(where: { $0.words == words }) else { return lines.joined(separator: "\n") }
    return (lines[..<block.range.lowerBound] + lines[block.range.upperBound...]).joined(separator: "\n")
  }
}

extension JSON {
  func member(_ path: [String]) -> JSON? { path.reduce(self) { $0?[$1] } }

  /// Sets a member of nested objects. `nil` removes the member and any objects that become empty.
  func setting(_ path: [String], to value: JSON?) -> JSON {
    guard let key = path.first else { return value ?? self }
    var object = object ?? [:]
    let inner = path.count == 1 ? value : (object[key] ?? .object([:])).setting(Array(path.dropFirst()), to: value)
    object[key] = value == nil && inner?.object?.isEmpty == true ? nil : inner
    return .object(object)
  }
}

extension String {
  /// The first two words of a command.
  fileprivate var verb: String { split(separator: " ").prefix(2).joined(separator: " ") }
  fileprivate func trimmingNewline() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}

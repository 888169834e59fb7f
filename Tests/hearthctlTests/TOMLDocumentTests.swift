import ArgumentParser
import HearthCore
import Testing

@testable import hearthctl

/// Tables are added to a text and removed from it, and every other byte stays.
@Suite struct TOMLDocumentTests {
  private static let table = "[accounts.new]\ntype = \"oidc\"\n"

  private func adding(to text: String) -> String {
    var document = TOMLDocument(Array(text.utf8))
    document.add(Self.table, to: "accounts")
    return String(decoding: document.bytes, as: UTF8.self)
  }

  private func removing(_ path: String, from text: String) -> String? {
    var document = TOMLDocument(Array(text.utf8))
    return document.remove(path.split(separator: ".").map(String.init))
      ? String(decoding: document.bytes, as: UTF8.self) : nil
  }

  @Test("a table is the first line of an empty file")
  func empty() {
    #expect(adding(to: "") == Self.table)
    #expect(adding(to: "\n\n") == Self.table + "\n\n")
  }

  @Test("a table comes after the last one of its group, before what else there is")
  func place() {
    let (accounts, rest) = ("# mine\n[accounts.a]\nx = 1\n\n[accounts.a.more]\ny = 2 # why\n\n", "# the rest\n[log]\n")
    #expect(adding(to: accounts + rest) == accounts + Self.table + "\n" + rest)
  }

  @Test("a table comes at the end where its group is new, and the last line gets its end")
  func end() {
    #expect(adding(to: "[log]\nlevel = 'info'") == "[log]\nlevel = 'info'\n\n" + Self.table)
    #expect(adding(to: "# all of it\n# is comment\n") == "# all of it\n# is comment\n\n" + Self.table)
  }

  @Test("what looks like a header in a string, a list or a comment is none")
  func strings() {
    let text = """
      [accounts.a]
      one = \"\"\"
      [refresh]
      \\\"\"\" # not the end
      \"\"\"\"
      two = '''
      [log]'''
      list = [ # [outbox]
        "[log]", '\\', [ "]" ],
      ]
      table = { "a]" = "}" }

      """
    #expect(adding(to: text + "[log]\n") == text + "\n" + Self.table + "[log]\n")
    #expect(removing("accounts.a", from: "x = 1\n\n" + text + "[log]\n") == "x = 1\n[log]\n")
  }

  @Test("lines that end as on Windows go on to do so")
  func carriageReturns() {
    #expect(adding(to: "[log]\r\n") == "[log]\r\n\r\n[accounts.new]\r\ntype = \"oidc\"\r\n")
  }

  @Test(
    "what was added is removed again without a trace",
    arguments: [
      "[accounts.a]\nx = 1\n", "# first\n\n[refresh]\n# none\n", "[accounts.a]\nx = 1\n\n\n[log]\n", "[log]\r\n",
      "[accounts.a]\nx = 1\n[refresh]\n", "[accounts.a]\n# end\n\n# rest\n", "\u{FEFF}[accounts.a]\nx = 1\n", "",
    ])
  func reversal(_ text: String) {
    #expect(removing("accounts.new", from: adding(to: text)) == text)
  }

  @Test("one more of a list comes after its account's tables, and goes by its number")
  func elements() {
    let (work, home) = ("[accounts.work]\nx = 1\n", "\n[accounts.home]\nx = 2\n")
    func list(_ numbers: Int...) -> String { numbers.map { "\n[[accounts.work.sinks]]\npath = \($0)\n" }.joined() }
    var document = TOMLDocument(Array((work + home).utf8))
    var text: String { String(decoding: document.bytes, as: UTF8.self) }
    for number in 1...3 {
      document.add("[[accounts.work.sinks]]\npath = \(number)\n", to: "accounts", "work")
    }
    #expect(text == work + list(1, 2, 3) + home)
    let path = ["accounts", "work", "sinks"]
    #expect(!document.remove(path, element: 3) && !document.remove(["accounts", "home", "sinks"], element: 0))
    #expect(document.remove(path, element: 1) && text == work + list(1, 3) + home)
    #expect(document.remove(path, element: 0) && document.remove(path, element: 0) && text == work + home)
    document.add("[[accounts.work.sinks]]\npath = 4\n", to: "accounts", "work")
    #expect(document.remove(["accounts", "work"]) && text == home.dropFirst(), "they go with their account")
  }

  @Test("a table goes with the tables below it, with what is commented directly above and in it, and no more")
  func remove() {
    let text = """
      # All my accounts.

      # Of the office.
      # Ask Bob.
      [accounts.work]
      type = "oidc"
      # not yet: scopes

      issuer = "x"
      # issuer = "y"

      # At home.
      [accounts.home]
      type = "json"
      [accounts."work".token_parameters]
      audience = "z"
      [[accounts.work.delivery]]
      status = 409
      [[accounts.work.delivery]]
      status = [404]

      [accounts.workshop]
      # empty

      """
    #expect(
      removing("accounts.work", from: text) == """
        # All my accounts.

        # At home.
        [accounts.home]
        type = "json"

        [accounts.workshop]
        # empty

        """)
    #expect(removing("accounts.works", from: text) == nil)
  }

  @Test("a table in the middle is removed with one of the blank lines around it")
  func blanks() {
    #expect(removing("accounts.b", from: "[accounts.a]\n\n\n[accounts.b]\n\n[c]\n") == "[accounts.a]\n\n\n[c]\n")
    #expect(removing("accounts.a", from: "[accounts.a]\n\n[c]\n") == "[c]\n")
    #expect(removing("accounts.a", from: "[ accounts . 'a' ]  # mine\nx = 1\n") == "")
  }

  @Test("whatever the text is, its statements make up all of it, and nothing else is lost when a table is added")
  func anyText() {
    var random = SeededGenerator(seed: 7)
    let alphabet = Array("[]{}\"'#=.\\,a \t\r\n\n".utf8) + Array("é".utf8)
    for _ in 0..<5000 {
      let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      #expect(TOMLElement.all(in: text).flatMap { text[$0.range] } == text)
      var document = TOMLDocument(text)
      document.add(Self.table, to: "accounts")
      let added = document.bytes.count - text.count
      #expect((0...text.count).contains { Self.isKept(text, document.bytes, at: $0, added) })
      _ = document.remove(["accounts", "new"])
    }
  }

  private static func isKept(_ text: [UInt8], _ longer: [UInt8], at position: Int, _ count: Int) -> Bool {
    longer[..<position] == text[..<position] && longer[(position + count)...].elementsEqual(text[position...])
  }
}

@Suite struct TOMLTableTests {
  @Test("values are written as TOML has them")
  func values() throws {
    var table = TOMLTable(path: ["accounts", "work"])
    table.set("plain", "a b")
    table.set("quoted", #"a"b\c"#)
    table.set("accent", "Zoë ☀")
    table.set("list", ["a", "\""])
    table.set("nothing", [])
    table.set("missing", nil as String?)
    table.entries.append(("port", .integer(8080)))
    table.entries.append(("pairs", .table([("bare-key", "1"), ("a key", "2")])))
    #expect(
      try table.text() == #"""
        [accounts.work]
        plain = "a b"
        quoted = "a\"b\\c"
        accent = "Zoë ☀"
        list = ["a", "\""]
        port = 8080
        pairs = { bare-key = "1", "a key" = "2" }

        """#)
  }

  @Test(
    "a character that would not be seen in the file is refused with its number",
    arguments: [
      ("\n", "U+000A"), ("\u{1B}[0m", "U+001B"), ("a\u{7F}", "U+007F"), ("\u{202E}", "U+202E"), ("\0", "U+0000"),
    ])
  func controls(_ text: String, _ code: String) {
    var table = TOMLTable(path: ["accounts", "work"])
    table.set("client_id", text)
    let error = #expect(throws: (any Error).self) { try table.text() }
    let sentence = error.map { "\($0)" } ?? ""
    #expect(sentence.contains("\"client_id\"") && sentence.contains(code))
  }

  private func setting(_ key: String, _ value: String, in text: String) -> String? {
    var document = TOMLDocument(Array(text.utf8))
    let isThere = document.change(key, in: ["accounts", "a"]) { _ in value }
    return isThere ? String(decoding: document.bytes, as: UTF8.self) : nil
  }

  @Test("a value takes the place of the one before, and the comment behind it stays")
  func replaced() {
    let text = "[accounts.b]\nkey = 1\n[accounts.a]\nkey=[ # one\n  1,\n]\t# why\nother = 'x = #'\n[log]\nkey = 2\n"
    #expect(
      setting("key", "\"new\"", in: text)
        == "[accounts.b]\nkey = 1\n[accounts.a]\nkey=\"new\"\t# why\nother = 'x = #'\n[log]\nkey = 2\n")
    #expect(setting("key", "2", in: "[accounts.a]\n\"key\" = 1") == "[accounts.a]\n\"key\" = 2")
  }

  @Test("the rules that select an account are told by their lines and removed; those of others stay")
  func rules() {
    let kept = "# mine\n[[use]]\naccount = \"worker\"\n\n[accounts.a]\ndefault_account = \"work\"\n"
    let text =
      "default_account = 'work' # why\n" + kept
      + "\n# at work\n[[use]]\ndirectory = \"/a\"\naccount = \"work\"\n\n[[ use ]]\naccount='work'"
    var document = TOMLDocument(Array(text.utf8))
    #expect(document.ruleLines(of: "work") == [1, 10, 14])
    document.removeRules(of: "work")
    #expect(String(decoding: document.bytes, as: UTF8.self) == kept)
    #expect(document.ruleLines(of: "work") == [] && document.ruleLines(of: "worker") == [2])
  }

  @Test("a key that is removed takes its lines with it, and what is removed twice is gone")
  func removedKey() {
    var document = TOMLDocument(Array("[accounts.a]\nx = 1\nkey = [ # one\n  1,\n] # why\ny = 2\n".utf8))
    for old in ["[ # one\n  1,\n]", nil] {
      #expect(document.change("key", in: ["accounts", "a"]) { found in found == old ? nil : "wrong" })
      #expect(String(decoding: document.bytes, as: UTF8.self) == "[accounts.a]\nx = 1\ny = 2\n")
    }
  }

  @Test(
    "a list gets what it does not have, and keeps how it is written",
    arguments: [
      ("[]", "[\"new\"]"), ("[ ]", "[\"new\" ]"), ("[\"old\"]", "[\"new\", \"old\"]"),
      ("[\"new\"]", "[\"new\"]"), ("[\n  # why\n  \"old\",\n]", "[\"new\", \n  # why\n  \"old\",\n]"),
    ])
  func addedToList(_ list: String, _ longer: String) throws {
    #expect(try TOMLTable.text(of: list, adding: ["new"], for: "key") == longer)
    #expect(throws: ValidationError.self) { try TOMLTable.text(of: "\"text\"", adding: ["new"], for: "key") }
  }

  @Test("a key that is new comes after the table's last line, and one of a table below it is another")
  func insertedKey() {
    #expect(
      setting("key", "1", in: "[accounts.a]\nx = 1 # why\n# more\n\n[accounts.a.key]\nkey = 2\n")
        == "[accounts.a]\nx = 1 # why\nkey = 1\n# more\n\n[accounts.a.key]\nkey = 2\n")
    #expect(setting("key", "1", in: "[accounts.a]") == "[accounts.a]\nkey = 1\n")
    #expect(setting("key", "1", in: "[accounts.a]\r\nx = 1\r\n") == "[accounts.a]\r\nx = 1\r\nkey = 1\r\n")
    #expect(setting("key", "1", in: "accounts.a.x = 1\n") == nil)
  }
}

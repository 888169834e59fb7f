import HearthCore
import TestSupport
import Testing

@Suite struct NetrcTextTests {
  private static func entry(_ host: String, _ login: String = "ada", _ password: String = "token-1") throws
    -> NetrcText.Entry
  {
    try #require(NetrcText.Entry(host: host, login: login, password: Secret(password)))
  }

  private static func with(_ text: String, _ entries: [NetrcText.Entry], of account: AccountName = .sample) throws
    -> String
  {
    String(decoding: try NetrcText(Array(text.utf8)).with(entries, of: account), as: UTF8.self)
  }

  private static func fault(_ text: String) throws -> NetrcText.Fault? {
    let entry = try entry("x.example.com")
    return #expect(throws: NetrcText.Fault.self) { _ = try with(text, [entry]) }
  }

  private static let own = "#hearthd:work\nmachine x.example.com login ada password token-1\n"
  /// Has an open macro, comments, quotes, an escape, a carriage return, and no newline at the end.
  private static let theirs =
    "# mine\n\nmachine a login \"b c\"\r\n  password d\\ e # x\ndefault login anonymous password me\nmacdef init\nmachine x\n login y"

  @Test(
    "an account's lines come first, and everything else stays unchanged",
    arguments: ["", "\n", "machine a login b password c", theirs, "macdef m\n#hearthd:work\n\nmachine a login b\n"])
  func first(text: String) throws {
    let once = try Self.with(text, [Self.entry("x.example.com")])
    #expect(once == Self.own + text)
    #expect(try Self.with(once, [Self.entry("x.example.com")]) == once)
    #expect(
      try Self.with(once, [Self.entry("x.example.com", "ada", "token-2")]) == Self.own.replacing(
        "token-1", with: "token-2") + text)
    #expect(NetrcText(Array(once.utf8)).without(.sample) == Array(text.utf8))
  }

  @Test("bytes that are not text stay unchanged")
  func bytes() throws {
    let theirs = Array("machine a login ".utf8) + [0xFF, 0xFE] + Array(" password c\n".utf8)
    let changed = try NetrcText(theirs).with([Self.entry("x.example.com")], of: .sample)
    #expect(changed == Array(Self.own.utf8) + theirs && NetrcText(changed).without(.sample) == theirs)
  }

  @Test("two accounts can have lines in one file, and each removes only its own")
  func accounts() throws {
    let other = try #require(AccountName("work-2"))
    let both = try Self.with(Self.own, [Self.entry("y", "bo"), Self.entry("z", "bo")], of: other)
    let theirs =
      "#hearthd:work-2\nmachine y login bo password token-1\n#hearthd:work-2\nmachine z login bo password token-1\n"
    #expect(both == theirs + Self.own)
    #expect(NetrcText(Array(both.utf8)).without(.sample) == Array(theirs.utf8))
    #expect(NetrcText(Array(both.utf8)).without(other) == Array(Self.own.utf8))
  }

  @Test("a host with another login is left alone, and an existing entry with the same login is not replaced")
  func taken() throws {
    #expect(
      try Self.with("machine x.example.com login bo password c\n", [Self.entry("x.example.com")]).hasPrefix(Self.own))
    let same = "already has this login for x.example.com; remove it or choose another login"
    let none = "has an entry for x.example.com without a login; remove it or add a login"
    for (line, text) in [
      ("machine X.example.com login ada password c", same), ("machine x.example.com password c", none),
      ("machine x.example.com user ada", same),
    ] {
      let fault = try Self.fault("\n\(line)\n")
      #expect(fault?.line == 2 && fault?.text == text)
    }
    let other = "#hearthd:other\nmachine x.example.com login ada password c\n"
    #expect(try Self.fault(other)?.line == 2)
    #expect(try Self.fault(Self.own + other)?.line == 4, "counted in the whole file")
  }

  @Test(
    "a fault is reported with its line",
    arguments: [
      ("machine a\nlogin b\nfoo c\n", 3, "has an unknown keyword"),
      ("login a\n", 1, "has \"login\" before the first \"machine\""),
      ("\nmachine a login", 2, "has \"login\" without a value"), ("machine", 1, "has \"machine\" without a value"),
      ("machine a\npassword \"b\nlogin c\"", 2, "has an unclosed quote"), ("machine a\0", 1, "contains a NUL byte"),
      ("macdef m\n\nfoo", 3, "has an unknown keyword"),
    ])
  func unreadable(text: String, line: Int, why: String) throws {
    let fault = try Self.fault(text)
    #expect(fault?.line == line && fault?.text == why)
    #expect(NetrcText(Array((Self.own + text).utf8)).without(.sample) == Array(text.utf8), "the token is removed")
  }

  @Test("a word that programs read differently makes no entry", arguments: ["", "a b", "a\"", "a\\", "#a", "é", "a\n"])
  func words(word: String) {
    #expect(NetrcText.Entry(host: "x", login: word, password: Secret("t")) == nil)
    #expect(NetrcText.Entry(host: "x", login: "ada", password: Secret(word)) == nil)
  }
}

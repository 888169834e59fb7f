import HearthCore
import Testing

@Suite("Choosing the account for a program that names none") struct AccountRulesTests {
  private let accounts = ["acme", "home", "work"].map { AccountName($0)! }

  private func rules(preset: String? = nil, _ rules: [(String, directory: String?, url: String?)]) throws
    -> AccountRules
  {
    func value(_ text: String?) -> ConfigurationValue? { text.map { ConfigurationValue(.string($0), line: 1) } }
    let elements = rules.map { account, directory, url in
      let table = ["account": value(account), "directory": value(directory), "url": value(url)].compactMapValues { $0 }
      return ConfigurationValue(.table(table), line: 2)
    }
    let values = ["default_account": value(preset), "use": ConfigurationValue(.array(elements), line: 2)]
    let table = ConfigurationTable(
      file: "/c.toml", roots: PathRoots(home: "/home/me"), values: values.compactMapValues { $0 })
    return try AccountRules(reading: TableReader(sharing: table), accounts: accounts)
  }

  private func choice(
    _ rules: AccountRules, _ url: String? = nil, in directories: String...
  ) throws -> String? {
    try rules.choice(for: url.map { try AccountRules.Place($0) }, in: directories, among: accounts)
      .map { "\($0.account) \($0.reason.rawValue)" }
  }

  @Test("a directory's rule applies to it and everything below it, under any of its names, but not to its neighbors")
  func directory() throws {
    let rules = try rules([("work", directory: "~/work/", url: nil)])
    #expect(try choice(rules, in: "/home/me/work") == "work rule")
    #expect(try choice(rules, in: "/data/work", "/home/me/work/notes/src") == "work rule")
    #expect(try choice(rules, in: "/home/me/workshop") == nil)
    #expect(try choice(rules, in: "/home/me") == nil)
    let root = try self.rules([("work", directory: "/", url: nil)])
    #expect(try choice(root, in: "/") == "work rule" && choice(root, in: "/srv") == "work rule")
  }

  @Test("a URL's rule applies to its origin and path prefix, by whole segments")
  func url() throws {
    let rules = try rules([("acme", directory: nil, url: "https://git.example.com/acme")])
    for url in ["https://git.example.com/acme", "https://GIT.example.com:443/acme/notes.git?x=1"] {
      #expect(try choice(rules, url) == "acme rule", "\(url)")
    }
    for url in [
      "https://git.example.com/acmecorp", "https://git.example.com/", "https://example.com/acme",
      "https://git.example.com:8443/acme", nil,
    ] {
      #expect(try choice(rules, url) == nil, "\(url ?? "none")")
    }
    #expect(
      try choice(self.rules([("work", directory: nil, url: "imaps://imap.example.com")]), "imaps://imap.example.com")
        == "work rule")
  }

  @Test("of the matching rules the longest URL wins, then the longest directory, then the first")
  func longest() throws {
    let rules = try rules([
      ("home", directory: nil, url: nil), ("work", directory: "/w", url: nil), ("home", directory: "/w/h", url: nil),
      ("work", directory: "/w/h", url: nil), ("work", directory: nil, url: "https://x.example"),
      ("acme", directory: nil, url: "https://x.example/acme"), ("home", directory: "/w", url: "https://x.example"),
    ])
    #expect(try choice(rules, in: "/") == "home rule", "a rule without directory and URL is for all")
    #expect(try choice(rules, in: "/w") == "work rule")
    #expect(try choice(rules, in: "/w/h/x") == "home rule", "the first of two alike")
    #expect(try choice(rules, "https://x.example", in: "/w/h") == "home rule", "both fit")
    #expect(try choice(rules, "https://x.example", in: "/") == "work rule")
    #expect(try choice(rules, "https://x.example/acme/a", in: "/w") == "acme rule")
  }

  @Test("without a rule the default account is chosen, then the only one; of several none is chosen")
  func without() throws {
    let rule = (account: "work", directory: "/w" as String?, url: nil as String?)
    let preset = try rules(preset: "home", [(rule.account, rule.directory, rule.url)])
    #expect(try choice(preset, in: "/") == "home default" && choice(preset, in: "/w") == "work rule")
    #expect(AccountRules().choice(for: nil, in: [], among: accounts) == nil)
    #expect(AccountRules().choice(for: nil, in: [], among: []) == nil)
    #expect(AccountRules().choice(for: nil, in: [], among: [accounts[1]])?.reason == .only)
  }
}

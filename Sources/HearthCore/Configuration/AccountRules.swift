/// Chooses an account for a program that does not name one, based on the configuration's `[[use]]` rules and
/// `default_account`.
package struct AccountRules: Hashable, Sendable {
  /// One `[[use]]` table. A rule without a directory applies in every directory, and a rule without a URL applies to
  /// every URL.
  package struct Rule: Hashable, Sendable {
    package let account: AccountName
    /// The directory, as an absolute path without a trailing slash. The rule also applies to its subdirectories.
    package let directory: String?
    /// The server and path prefix that the rule applies to.
    package let url: Place?

    fileprivate var rank: (Int, Int) { (url?.description.utf8.count ?? 0, directory?.utf8.count ?? 0) }
  }

  /// A server and a path prefix.
  package struct Place: Hashable, Sendable, CustomStringConvertible {
    private let origin: Origin
    private let path: [Substring]

    /// Parses the URL of an API or a mail server. Ignores the query.
    package init(_ text: String) throws {
      origin = try Origin(ofServer: text)
      let target = (try? HTTPURL(encoding: text))?.target ?? ""
      path = target.prefix { $0 != "?" }.split(separator: "/")
    }

    package var description: String { origin.description + path.map { "/\($0)" }.joined() }

    fileprivate func contains(_ other: Place) -> Bool { origin == other.origin && other.path.starts(with: path) }
  }

  package enum Reason: String, CaseIterable, Sendable {
    case rule
    /// The account is the configured `default_account`.
    case preset = "default"
    /// The account is the only configured one.
    case only
  }

  package struct Choice: Hashable, Sendable {
    package let account: AccountName
    package let reason: Reason
    /// The rule that chose the account, or `nil` if no rule did.
    package let rule: Rule?
  }

  private var rules: [Rule] = []
  private var preset: AccountName?

  package init() {}

  /// Returns the account of the best matching rule. If no rule matches, returns the default account or, without a
  /// default, the only account. Otherwise returns `nil`.
  ///
  /// A rule with a longer URL matches better. If the URLs are equally long, a rule with a longer directory matches
  /// better. `directories` are the paths of the working directory, with and without symbolic links.
  package func choice(for url: Place?, in directories: [String], among accounts: [AccountName]) -> Choice? {
    let fitting = rules.filter { rule in
      let isBelow = rule.directory.map { directory in directories.contains { $0.isBelow(directory) } } ?? true
      let isThere = rule.url.map { place in url.map(place.contains) ?? false } ?? true
      return isBelow && isThere
    }
    if let rule = fitting.max(by: { $0.rank < $1.rank }) {
      return Choice(account: rule.account, reason: .rule, rule: rule)
    }
    if let preset { return Choice(account: preset, reason: .preset, rule: nil) }
    return accounts.count == 1 ? Choice(account: accounts[0], reason: .only, rule: nil) : nil
  }

  package enum Key: String, ConfigurationKey {
    case defaultAccount = "default_account"
    case use
  }

  package enum RuleKey: String, ConfigurationKey { case account, directory, url }

  /// Reads the rules. `accounts` lists every account in the configuration.
  package init(reading table: TableReader<Key>, accounts: [AccountName]) throws {
    preset = try table.account(.defaultAccount, among: accounts)
    let readers: [TableReader<RuleKey>] = try table.tables(.use)
    for reader in readers {
      guard let account = try reader.account(.account, among: accounts) else {
        throw reader.error("lacks \"account\"")
      }
      var directory = try reader.path(.directory)
      while directory?.hasSuffix("/") == true { directory?.removeLast() }
      rules.append(Rule(account: account, directory: directory, url: try reader.url(.url, Place.init)))
    }
  }
}

extension String {
  fileprivate func isBelow(_ directory: String) -> Bool {
    let rest = utf8.dropFirst(directory.utf8.count)
    return utf8.starts(with: directory.utf8) && (rest.isEmpty || rest.first == UInt8(ascii: "/"))
  }
}

extension TableReader {
  fileprivate func account(_ key: Key, among accounts: [AccountName]) throws -> AccountName? {
    guard let text = try string(key) else { return nil }
    guard let account = accounts.first(where: { $0.description == text }) else {
      let suggestion = accounts.map(\.description).suggestion(for: text)
      throw error(
        key, "is \"\(text)\", but there is no [accounts.\(text)]\(suggestion.isEmpty ? "" : ".\(suggestion)")")
    }
    return account
  }
}

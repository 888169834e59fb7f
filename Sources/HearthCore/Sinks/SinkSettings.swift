/// One `[[accounts.NAME.sinks]]` table: a file with the account's token, for programs that can only read files.
package struct SinkSettings: Hashable, Sendable {
  package enum Format: String, Hashable, Sendable, CaseIterable {
    /// Only the token, without a newline, because some programs send the file unchanged.
    case token
    /// An `Authorization: Bearer …` line, for `curl -H @FILE`.
    case header
    /// The result of `session.getToken`, on one line.
    case json
    /// A netrc entry for each host. The file can contain other entries (`NetrcText`).
    case netrc
  }

  /// The parts of a netrc entry other than the token.
  package struct Netrc: Hashable, Sendable {
    /// The host names, in lower case and without ports.
    package let hosts: [String]
    package let login: String

    package init(hosts: [String], login: String) { (self.hosts, self.login) = (hosts, login) }

    /// The login if the account's user name is missing or unusable. The git credential helper uses the same one.
    private static let anybody = "oauth2"

    /// Reads the netrc keys. Returns `nil` for other formats.
    fileprivate init?(
      of format: Format, _ origins: Set<Origin>, _ username: String?, _ table: TableReader<Key>
    ) throws {
      let isNetrc = format == .netrc
      let others: [Key] = isNetrc ? [.mode, .owner, .group, .inPlace] : [.hosts, .login]
      if let key = others.first(where: { table.has($0) }) {
        throw table.error(
          key, isNetrc ? "does not apply to format \"netrc\"" : "applies only to format \"netrc\"")
      }
      guard isNetrc else { return nil }
      // A netrc file contains IPv6 addresses without brackets.
      let known = Set(origins.map(\.host).map { $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 })
      let named = try table.strings(.hosts).map { $0.lowercased() }
      if let host = named.first(where: { !known.contains($0) }) {
        throw table.error(.hosts, "cannot contain \"\(host)\", which is not a host in the account's api_origins")
      }
      let login = try table.string(.login) ?? username.flatMap { NetrcText.isWord($0) ? $0 : nil } ?? Self.anybody
      guard NetrcText.isWord(login) else {
        throw table.error(
          .login, "must be one word of printable ASCII without quotes or backslashes, and must not begin with #")
      }
      guard !known.isEmpty else { throw table.error("needs at least one host in the account's api_origins") }
      self.init(hosts: named.isEmpty ? known.sorted() : named, login: login)
    }
  }

  package let account: AccountName
  /// The absolute path, without `//`, `/./` or `/../`.
  package let path: String
  package let format: Format
  /// The kind of token to write, or `nil` for the kind that the account sends to APIs.
  package let bearer: BearerKind?
  /// The permission bits.
  package let mode: UInt32
  /// The names or numbers of the file's owner and group, or `nil` for the daemon's.
  package let owner: String?
  package let group: String?
  /// Whether the file is written in place, and emptied instead of removed. This is necessary if the file itself is
  /// bind-mounted, because such a file cannot be replaced.
  package let isInPlace: Bool
  /// The netrc settings, or `nil` for other formats.
  package let netrc: Netrc?

  package init(
    account: AccountName, path: String, format: Format = .token, bearer: BearerKind? = nil, mode: UInt32 = 0o600,
    owner: String? = nil, group: String? = nil, isInPlace: Bool = false, netrc: Netrc? = nil
  ) {
    (self.account, self.path, self.format, self.bearer) = (account, path, format, bearer)
    (self.mode, self.owner, self.group) = (mode, owner, group)
    (self.isInPlace, self.netrc) = (isInPlace, netrc)
  }

  package enum Key: String, ConfigurationKey {
    case path, format, bearer, mode, owner, group, hosts, login
    case inPlace = "in_place"
  }

  /// Reads a sink. `origins` are the origins that may receive the account's token. `username` is the account's user
  /// name in other programs.
  package init(
    of account: AccountName, origins: Set<Origin>, username: String?, reading table: TableReader<Key>
  ) throws {
    guard let path = try table.path(.path) else { throw table.error("lacks \"path\"") }
    let parts = path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }
    guard !path.hasSuffix("/"), !path.hasSuffix("/."), !parts.isEmpty, !parts.contains("..") else {
      throw table.error(.path, "must be the path of a file without \"..\", not \"\(path)\"")
    }
    let format = try table.choice(.format, as: Format.self) ?? .token
    self.init(
      account: account, path: "/" + parts.joined(separator: "/"), format: format,
      bearer: try table.choice(.bearer, as: BearerKind.self), mode: try Self.mode(table),
      owner: try table.string(.owner), group: try table.string(.group), isInPlace: try table.flag(.inPlace) ?? false,
      netrc: try Netrc(of: format, origins, username, table))
  }

  package var target: SinkTarget { netrc == nil ? .file(path) : .netrc(account, in: path) }

  /// Reads the mode. Throws if the owner could not read the file, others could write to it, or anyone could execute it.
  private static func mode(_ table: TableReader<Key>) throws -> UInt32 {
    guard let text = try table.string(.mode) else { return 0o600 }
    guard let mode = UInt32(text, radix: 8), (3...4).contains(text.utf8.count), mode & ~0o644 == 0, mode & 0o400 != 0
    else {
      throw table.error(
        .mode,
        "must be a mode like \"0600\" or \"0640\" (the owner can read, only the owner can write, nobody can execute), "
          + "not \"\(text)\"")
    }
    return mode
  }
}

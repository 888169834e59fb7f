/// One `[[accounts.NAME.sinks]]`: a file with the account's token for programs that can only read files.
package struct SinkSettings: Hashable, Sendable {
  /// The format of the file.
  package enum Format: String, Hashable, Sendable, CaseIterable {
    /// Only the token, without a newline, since some programs send what they read unchanged.
    case token
    /// `Authorization: Bearer …`, as one line of HTTP, for `curl -H @FILE`.
    case header
    /// The result of `session.getToken` on one line.
    case json
  }

  package let account: AccountName
  /// An absolute path without `//`, `/./` and `/../`.
  package let path: String
  package let format: Format
  /// The token in the file, or nil for the one that the account shows to APIs.
  package let bearer: BearerKind?
  /// The permission bits.
  package let mode: UInt32
  /// Names or numbers of the file's owner and group. `nil` means those of the daemon.
  package let owner: String?
  package let group: String?
  /// Whether the file is written in place and stays when there is no token, for a bind mount of this one file.
  package let isInPlace: Bool

  package init(
    account: AccountName, path: String, format: Format = .token, bearer: BearerKind? = nil, mode: UInt32 = 0o600,
    owner: String? = nil, group: String? = nil, isInPlace: Bool = false
  ) {
    (self.account, self.path, self.format, self.bearer) = (account, path, format, bearer)
    (self.mode, self.owner, self.group, self.isInPlace) = (mode, owner, group, isInPlace)
  }
}

extension SinkSettings {
  package enum Key: String, ConfigurationKey {
    case path, format, bearer, mode, owner, group
    case inPlace = "in_place"
  }

  package init(of account: AccountName, reading table: TableReader<Key>) throws(ConfigurationError) {
    guard let path = try table.path(.path) else { throw table.error("lacks \"path\"") }
    let parts = path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }
    guard !path.hasSuffix("/"), !path.hasSuffix("/."), !parts.isEmpty, !parts.contains("..") else {
      throw table.error(.path, "must name a file, without \"..\", not \"\(path)\"")
    }
    self.init(
      account: account, path: "/" + parts.joined(separator: "/"),
      format: try table.choice(.format, as: Format.self) ?? .token,
      bearer: try table.choice(.bearer, as: BearerKind.self), mode: try Self.mode(table),
      owner: try table.string(.owner), group: try table.string(.group), isInPlace: try table.flag(.inPlace) ?? false)
  }

  /// Reads the mode. Only the owner may write, and nobody may execute.
  private static func mode(_ table: TableReader<Key>) throws(ConfigurationError) -> UInt32 {
    guard let text = try table.string(.mode) else { return 0o600 }
    guard let mode = UInt32(text, radix: 8), (3...4).contains(text.utf8.count), mode & ~0o644 == 0, mode & 0o400 != 0
    else {
      throw table.error(
        .mode, "must be \"0600\", or with the right to read for group or others like \"0640\", not \"\(text)\"")
    }
    return mode
  }
}

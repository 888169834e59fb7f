import HearthCore
import HearthLinux
import HearthOAuth
import HearthStorage

/// Places that must not be used twice, such as Hearth's own files. Links are resolved, so that Hearth never writes
/// different content to the same place.
struct OwnPlaces {
  struct Place {
    let path: String
    /// A description for error messages, such as `the daemon's socket`.
    let what: String
    /// Whether the place includes everything in the folder. In the subfolder `exception`, credential files are allowed.
    let isFolder: Bool
    let exception: String?

    init(_ path: String, _ what: String, isFolder: Bool = false, except exception: String? = nil) {
      (self.path, self.what, self.isFolder, self.exception) = (path, what, isFolder, exception)
    }
  }

  private var taken: [Place]
  private let found: [String: FilePlace]

  /// Resolves all paths. `others` contains the paths that will later be passed to `owner`.
  init(_ taken: [Place], others: [String]) {
    self.taken = taken
    let paths = taken.flatMap { [$0.path] + [$0.exception].compactMap(\.self) } + others
    found = Dictionary(zip(paths, FilePlace.all(paths))) { first, _ in first }
  }

  /// Returns a description of the place that already uses a path, or `nil` if the path is free. If `isCredential` is
  /// set, the path may be in the state folder's credentials folder, except for hidden files.
  func owner(of path: String, isCredential: Bool = false) -> String? {
    guard let here = found[path] else { return nil }
    return taken.first { place in
      guard let there = found[place.path] else { return false }
      let isHidden = path.split(separator: "/").last?.first == "."
      if isCredential, !isHidden, let free = place.exception.flatMap({ found[$0] }), here.isIn(free) { return false }
      return here == there || place.isFolder && here.isWithin(there)
    }?.what
  }

  mutating func take(_ path: String, _ what: String) { taken.append(Place(path, what)) }
}

extension Configuration {
  /// Returns the sinks of all accounts. Throws if a credential file or sink uses a place that is taken by `ownPlaces`,
  /// by a file that an account names, or by another credential file or sink.
  static func sinks(
    _ table: ConfigurationTable, of accounts: [AccountConfiguration], _ state: StatePaths?,
    _ ownPlaces: [OwnPlaces.Place]
  ) throws -> [SinkSettings] {
    var (named, sinks): ([OwnPlaces.Place], [(SinkSettings, TableReader<SinkSettings.Key>)]) = ([], [])
    for account in accounts {
      let table = try table.table(account.name.description)
      if let file = account.credential.keyFile {
        named.append(.init(file, "the key file of [accounts.\(account.name)]"))
      }
      let reader = TableReader<ProviderKey>(sharing: table)
      for key in [ProviderKey.clientSecretFile, .clientKeyFile, .clientCertificateFile, .caFile] {
        if let file = try reader.path(key) {
          named.append(.init(file, "the \(key.rawValue) of [accounts.\(account.name)]"))
        }
      }
      for table in try table.tables(AccountConfiguration.sinksKey) {
        let reader = try TableReader<SinkSettings.Key>(table)
        sinks.append(
          (
            try SinkSettings(
              of: account.name, origins: account.api.allOrigins, username: account.session.username, reading: reader),
            reader
          ))
      }
    }
    let files = accounts.compactMap(\.credential.file)
    var places = OwnPlaces(ownPlaces + named, others: files + sinks.map(\.0.path))
    for account in accounts {
      guard let file = account.credential.file else { continue }
      if let owner = places.owner(of: file, isCredential: true) {
        throw try table.table(account.name.description).error(
          at: "credential_file",
          "\"credential_file\" in [accounts.\(account.name)] cannot be \(file): that is \(owner)")
      }
    }
    try requireOwnFiles(accounts, table, state)
    for account in accounts {
      if let file = account.credential.file { places.take(file, "the credential file of [accounts.\(account.name)]") }
    }
    // Several accounts can share a netrc file, so skip the check if other accounts, but not this one, already use the
    // file for netrc.
    var sharing: [String: Set<AccountName>] = [:]
    for (sink, reader) in sinks {
      if sink.netrc != nil {
        let others = sharing[sink.path] ?? []
        sharing[sink.path] = others.union([sink.account])
        if !others.isEmpty, !others.contains(sink.account) { continue }
      }
      if let owner = places.owner(of: sink.path) {
        throw reader.error(.path, "cannot be \(sink.path): that is \(owner)")
      }
      places.take(sink.path, "the path of another sink of [accounts.\(sink.account)]")
    }
    return sinks.map(\.0)
  }

  /// Throws if two accounts use the same credential file, possibly through different paths.
  private static func requireOwnFiles(
    _ accounts: [AccountConfiguration], _ table: ConfigurationTable, _ state: StatePaths?
  ) throws {
    // Skip the check if all paths are defaults, because default paths collide only if someone has linked them.
    guard accounts.contains(where: { $0.credential.file != nil }) else { return }
    let files = accounts.compactMap { account in
      (account.credential.file ?? state?.credentialFile(of: account.name)).map { (account, path: $0) }
    }
    var owners: [FilePlace: AccountConfiguration] = [:]
    for (place, (account, path)) in zip(FilePlace.all(files.map(\.path)), files) {
      guard let owner = owners.updateValue(account, forKey: place) else { continue }
      let blamed = account.credential.file == nil ? owner : account
      throw try table.table(blamed.name.description).error(
        at: "credential_file",
        "[accounts.\(owner.name)] and [accounts.\(account.name)] cannot share the credential_file "
          + (blamed.credential.file ?? path))
    }
  }
}

import HearthCore
import HearthOAuth
import HearthStorage

/// The settings in one `[accounts.NAME]` table, grouped by the part of Hearth that uses them.
struct AccountConfiguration: Hashable, Sendable {
  let name: AccountName
  let provider: ProviderConfiguration
  let api: APISettings
  let credential: CredentialSettings
  var session: SessionSettings

  /// The tables under this key are read separately, into `Configuration.sinks`.
  static let sinksKey = "sinks"

  /// Reads the table. `proxies` are the proxies from the environment.
  init(_ name: AccountName, reading table: ConfigurationTable, proxies: ProxyEnvironment) throws {
    try table.requireKeys(
      among: ProviderKey.names + CredentialSettings.Key.names + SessionSettings.Key.names + [Self.sinksKey])
    self.name = name
    provider = try ProviderConfiguration(reading: TableReader(sharing: table), proxies: proxies)
    api = try APISettings(reading: TableReader(sharing: table))
    credential = try CredentialSettings(reading: TableReader(sharing: table))
    let reader = TableReader<SessionSettings.Key>(sharing: table)
    var session = try SessionSettings(reading: reader)
    switch provider.kind {
    case .oauth: break
    case .clientCredentials, .json, .firebase:
      guard !reader.has(.onReauth) else {
        throw reader.error(
          .onReauth,
          "does not apply to an account of type \"\(provider.kind.type.rawValue)\", which does not sign in with a "
            + "browser")
      }
    }
    provider.complete(&session)
    self.session = session
  }
}

import HearthCore
import HearthOAuth
import Logging

/// The parsed and validated configuration file, with defaults for missing values.
struct Configuration: Hashable, Sendable {
  /// The accounts, sorted by name.
  var accounts: [AccountConfiguration] = []
  /// The sinks of all accounts. They are separate so that changing a sink does not restart the account's session.
  var sinks: [SinkSettings] = []
  /// The rules that select an account for programs that do not specify an account.
  var rules = AccountRules()
  var refresh = RefreshSettings()
  var outbox = OutboxSettings()
  var logLevel: Logger.Level = .info
  /// Whether the file sets `oidc_agent_socket` to true. Earlier versions used this key to serve oidc-agent's clients.
  /// It has no effect now, so Hearth logs a warning.
  var oidcAgentSocket = false

  /// Returns the output of `--check-config`. `path` is `nil` if there is no file.
  func summary(path: String?) -> String {
    let names = accounts.map(\.name.description).joined(separator: ", ")
    let count =
      switch accounts.count {
      case 0: "no accounts"
      case 1: "1 account (\(names))"
      case let count: "\(count) accounts (\(names))"
      }
    guard let path else { return "there is no configuration file, so the defaults apply: \(count)" }
    return "configuration \(path) is fine: \(count)"
  }
}

extension Configuration {
  /// Describes the differences from an earlier configuration for the log. The text names accounts and parts but does
  /// not contain any values.
  func changes(from former: Configuration) -> [String] {
    let old = Dictionary(uniqueKeysWithValues: former.accounts.map { ($0.name, $0) })
    let new = Set(accounts.map(\.name))
    var changes = accounts.compactMap { account -> String? in
      guard let before = old[account.name] else { return "account \(account.name): added" }
      let parts = account.changedParts(from: before)
      guard !parts.isEmpty else { return nil }
      let client = account.provider.sharesGrants(with: before.provider) ? "" : " (different issuer or client)"
      return "account \(account.name): \(parts.joined(separator: ", "))\(client)"
    }
    changes += former.accounts.filter { !new.contains($0.name) }.map { "account \($0.name): removed" }
    let others = [
      ("token files", sinks == former.sinks), ("default_account and [[use]]", rules == former.rules),
      ("[refresh]", refresh == former.refresh), ("[outbox]", outbox == former.outbox),
      ("[log]", logLevel == former.logLevel),
    ]
    return changes + others.filter { !$0.1 }.map(\.0)
  }
}

extension AccountConfiguration {
  fileprivate func changedParts(from former: Self) -> [String] {
    let parts = [
      ("provider", provider == former.provider), ("api_origins and delivery", api == former.api),
      ("credential", credential == former.credential), ("session", session == former.session),
    ]
    return parts.filter { !$0.1 }.map(\.0)
  }
}

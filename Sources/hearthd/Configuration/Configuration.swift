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

import HearthCore
import HearthOAuth
import Logging

/// The configuration file, read and valid, with defaults for what it leaves out.
struct Configuration: Hashable, Sendable {
  /// Sorted by name.
  var accounts: [AccountConfiguration] = []
  /// The sinks of all accounts, apart from them: a session does not begin anew when its sinks change.
  var sinks: [SinkSettings] = []
  /// Which account a program gets that names none.
  var rules = AccountRules()
  var refresh = RefreshSettings()
  var outbox = OutboxSettings()
  var logLevel: Logger.Level = .info
  /// A key of earlier versions, which served oidc-agent's clients themselves. Hearth warns its user that it does nothing now.
  var oidcAgentSocket = false

  /// What `--check-config` prints. `path` is nil if no file exists.
  func summary(path: String?) -> String {
    let names = accounts.map(\.name.description).joined(separator: ", ")
    let count =
      switch accounts.count {
      case 0: "no accounts"
      case 1: "1 account (\(names))"
      case let count: "\(count) accounts (\(names))"
      }
    guard let path else { return "there is no configuration, the defaults hold: \(count)" }
    return "configuration \(path) is fine: \(count)"
  }
}

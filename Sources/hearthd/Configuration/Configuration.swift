import HearthCore
import HearthOAuth
import Logging

/// The parsed and validated configuration file, with defaults for what it leaves out.
struct Configuration: Hashable, Sendable {
  /// The accounts, sorted by name.
  var accounts: [AccountConfiguration] = []
  /// The sinks of all accounts. They are separate so that a session does not restart when its sinks change.
  var sinks: [SinkSettings] = []
  /// Which account a program gets if it names none.
  var rules = AccountRules()
  var refresh = RefreshSettings()
  var outbox = OutboxSettings()
  var logLevel: Logger.Level = .info
  /// Whether the file sets a key of earlier versions, which served oidc-agent's clients themselves. Hearth warns that
  /// the key has no effect.
  var oidcAgentSocket = false

  /// The output of `--check-config`. `path` is `nil` if no file exists.
  func summary(path: String?) -> String {
    let names = accounts.map(\.name.description).joined(separator: ", ")
    let count =
      switch accounts.count {
      case 0: "no accounts"
      case 1: "1 account (\(names))"
      case let count: "\(count) accounts (\(names))"
      }
    guard let path else { return "there is no configuration, so the defaults apply: \(count)" }
    return "configuration \(path) is fine: \(count)"
  }
}

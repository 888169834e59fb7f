import HearthCore
import Logging

/// What the configuration file says, valid throughout; the defaults where it says nothing.
struct Configuration: Hashable, Sendable {
  /// Sorted by name.
  var accounts: [AccountConfiguration] = []
  var refresh = RefreshSettings()
  var outbox = OutboxSettings()
  var logLevel: Logger.Level = .info

  /// What is taken for a later version and does nothing in this one, a sentence each.
  var warnings: [String] {
    accounts.flatMap { account in
      account.lockOn.subtracting([.unreadable]).map(\.rawValue).sorted().map { trigger in
        "lock_on of the account \(account.name): \"\(trigger)\" locks nothing in this version."
      }
    }
  }

  /// What `--check-config` prints; `path` is nil where there is no file.
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

import ArgumentParser
import HearthControl
import HearthCore

struct AccountSetVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a key of an account in the configuration.",
    discussion: """
      Hearth checks the configuration before writing it and preserves its comments and order. The previous file is \
      saved as config.toml.bak, and a running daemon loads the new one. For example:

        hearthctl account set work --add api_origins https://api.example.com
        hearthctl account set work scopes openid email offline_access
        hearthctl account set work authorization_parameters prompt=consent
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var choice: NamedAccount

  @Flag(help: "Add the values to a list instead of replacing it.")
  var add = false

  @Argument(help: "Key to set, as spelled in the configuration.")
  var key: String

  @Argument(help: "New value. A list takes several values, and extra request fields have the form NAME=VALUE.")
  var values: [String]

  func run() throws {
    let account = try choice.name
    let setting = try AccountSetting(options, daemonOptions)
    let value = try value()
    let kept = try setting.file.change([key], of: account) { key, old in
      guard add else { return try TOMLTable.text(of: value, for: key) }
      return try TOMLTable.text(of: old ?? setting.usual(key, of: account), adding: values, for: key)
    }
    try setting.report(
      "Changed \(key) of \(account) in \(setting.file.path)", ["account": .string(account.description)], kept)
  }

  func validate() throws {
    if let value = values.first(where: { $0.hasPrefix("[") || $0.hasPrefix("{") }) {
      throw ValidationError(
        "\"\(value)\" looks like TOML. Give each value separately: KEY VALUE…, or KEY NAME=VALUE… for extra fields."
      )
    }
    guard key.utf8.allSatisfy({ $0.isASCIILetter || $0 == UInt8(ascii: "_") }) else {
      throw ValidationError("\"\(key)\" is not a key of an account.")
    }
  }

  private func value() throws -> TOMLTable.Value {
    switch key {
    case "scopes", "api_origins", "lock_on", "final_errors", "certificate_pins": return .strings(values)
    case "token_parameters", "authorization_parameters": return .table(try AccountKeys.pairs(values, key))
    default:
      if add { return .strings(values) }
      guard values.count == 1, let value = values.first else {
        throw ValidationError("\"\(key)\" takes one value, but \(values.count) were given.")
      }
      if key == "redirect_port", let port = Int(value) { return .integer(port) }
      return .string(key.hasSuffix("_file") ? AccountKeys.absolute(value) ?? value : value)
    }
  }
}

struct AccountUnsetVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove keys of an account from the configuration.",
    discussion: """
      Removes each key's line, including a trailing comment. The default then applies. For example:

        hearthctl account unset work scopes
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var choice: NamedAccount

  @Argument(help: "Keys to remove, as spelled in the configuration.")
  var keys: [String]

  func run() throws {
    let account = try choice.name
    let setting = try AccountSetting(options, daemonOptions)
    let kept = try setting.file.change(keys, of: account) { key, old in
      guard old != nil else {
        throw CommandFailure(.failed, "\"\(key)\" is not set for \(account). Nothing was written.")
      }
      return nil
    }
    try setting.report(
      "Removed \(keys.joined(separator: ", ")) from \(account) in \(setting.file.path)",
      ["account": .string(account.description)], kept)
  }
}

extension AccountSetting {
  /// Returns the default value of a missing list. For OpenID Connect accounts, the default of `scopes` is `openid`.
  fileprivate func usual(_ key: String, of account: AccountName) throws -> String {
    guard key == "scopes" else { return "[]" }
    let isOpenID = try file.accounts().contains { $0.name == account.description && $0.type == "oidc" }
    return isOpenID ? "[\"openid\"]" : "[]"
  }
}

import ArgumentParser
import HearthControl
import HearthCore

struct AccountSetVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Give a key of an account another value in the configuration.",
    discussion: """
      The configuration is checked before it is written, its comments and its order stay, the file before is kept beside \
      it as config.toml.bak, and the daemon reads it in. For example:

        hearthctl account set work --add api_origins https://api.example.com
        hearthctl account set work scopes openid email offline_access
        hearthctl account set work authorization_parameters prompt=consent
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var choice: NamedAccount

  @Flag(help: "Add to a list what it does not have, and keep what it has.")
  var add = false

  @Argument(help: "The key, as the configuration has it.")
  var key: String

  @Argument(help: "Its value: several for a list, NAME=VALUE for each further field of requests.")
  var values: [String]

  func run() throws {
    let account = try choice.name
    let setting = try AccountSetting(options, daemonOptions)
    let value = try value()
    let kept = try setting.file.change([key], of: account) { key, old in
      guard add else { return try TOMLTable.text(of: value, for: key) }
      return try TOMLTable.text(of: old ?? setting.usual(key, of: account), adding: values, for: key)
    }
    try setting.report("Changed \(key) of \(account) in \(setting.file.path)", account.json, kept, daemonOptions)
  }

  func validate() throws {
    if let value = values.first(where: { $0.hasPrefix("[") || $0.hasPrefix("{") }) {
      throw ValidationError(
        "\"\(value)\" is written as in the file. Give each value by itself: KEY VALUE…, or KEY NAME=VALUE… for further fields."
      )
    }
    guard key.utf8.allSatisfy({ $0.isASCIILetter || $0 == UInt8(ascii: "_") }) else {
      throw ValidationError("\"\(key)\" is no key of an account.")
    }
  }

  private func value() throws -> TOMLTable.Value {
    switch key {
    case "scopes", "api_origins", "lock_on", "final_errors", "certificate_pins": return .strings(values)
    case "token_parameters", "authorization_parameters": return .table(try AccountKeys.pairs(values, key))
    default:
      if add { return .strings(values) }
      guard values.count == 1, let value = values.first else {
        throw ValidationError("\"\(key)\" takes one value, and \(values.count) were given.")
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
      Their lines go, with the comment behind each; what they say is then as it is by default. For example:

        hearthctl account unset work scopes
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var choice: NamedAccount

  @Argument(help: "The keys, as the configuration has them.")
  var keys: [String]

  func run() throws {
    let account = try choice.name
    let setting = try AccountSetting(options, daemonOptions)
    let kept = try setting.file.change(keys, of: account) { key, old in
      guard old != nil else { throw CommandFailure(.failed, "\(account) has no key \"\(key)\". Nothing was written.") }
      return nil
    }
    try setting.report(
      "Removed \(keys.joined(separator: ", ")) of \(account) in \(setting.file.path)", account.json, kept, daemonOptions
    )
  }
}

extension AccountSetting {
  /// The default of a list that is not set: an OpenID Connect account asks for `openid`.
  fileprivate func usual(_ key: String, of account: AccountName) throws -> String {
    guard key == "scopes" else { return "[]" }
    let isOpenID = try file.accounts().contains { $0.name == account.description && $0.type == "oidc" }
    return isOpenID ? "[\"openid\"]" : "[]"
  }

  /// Reloads the daemon's configuration after a change, and reports the result. `json` has further members for the JSON
  /// output. `kept` is the path of the backup.
  func report(_ what: String, _ json: JSONObject, _ kept: String?, _ daemonOptions: DaemonOptions) throws {
    let isReloaded = try reload(daemonOptions)
    var json = json
    json["configuration"] = .string(file.path)
    json["kept"] = JSON(kept)
    json["reloaded"] = .bool(isReloaded)
    daemonOptions.output.show(.object(json)) {
      let before = kept.map { "; the file before is \($0)." } ?? "."
      let next =
        isReloaded
        ? "The daemon has read it in."
        : isServed == nil ? "No daemon runs." : "The daemon that runs uses another configuration, and was told nothing."
      return "\(what)\(before)\n\(next)"
    }
  }
}

extension AccountName {
  fileprivate var json: JSONObject { ["account": .string(description)] }
}

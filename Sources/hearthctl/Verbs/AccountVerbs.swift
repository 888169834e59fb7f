import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct AccountVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Add, list, change, edit and remove accounts in the configuration.",
    subcommands: [
      AccountAddVerb.self, AccountEditVerb.self, AccountListVerb.self, AccountProvidersVerb.self,
      AccountRemoveVerb.self, AccountSetVerb.self, AccountUnsetVerb.self,
    ])
}

struct AccountOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Configuration file (default: the one that the daemon uses).", valueName: "file"),
    completion: .file())
  var config: String?
}

/// The configuration file to edit, and whether the running daemon uses it.
struct AccountSetting {
  let file: AccountFile
  /// Whether the running daemon uses this file or has no configuration, or `nil` if no daemon is running.
  let isServed: Bool?
  private let options: DaemonOptions

  init(_ options: AccountOptions, _ daemonOptions: DaemonOptions) throws {
    var program = try DaemonProgram.find()
    var (isRunning, used): (Bool, String?) = (false, nil)
    if var daemon = try daemonOptions.connectIfRunning() {
      let info = try daemon.call(GetInfo()).value
      used = info.path("configuration")
      isRunning = true
      program = program.reading(as: info)
    }
    let path = try AccountFile.path(option: options.config, daemon: used, else: .ofThisProcess)
    isServed = isRunning ? used == nil || used == path : nil
    file = AccountFile(path: path, program: program)
    self.options = daemonOptions
  }

  /// Connects to the daemon if it uses the file.
  func daemon() throws -> ControlClient? {
    guard isServed == true else { return nil }
    return try options.connectIfRunning()
  }

  /// Returns the daemon's sessions by account, or none if the daemon does not use the file.
  func sessions() throws -> [String: SessionStatus] {
    guard var daemon = try daemon() else { return [:] }
    let sessions = try daemon.call(ListSessions()).value.sessions
    return Dictionary(sessions.map { ($0.account.description, $0) }) { first, _ in first }
  }

  /// Reloads the daemon if it uses the file. Returns whether it was reloaded and a sentence about the result.
  func reload() throws -> (isDone: Bool, sentence: String) {
    if isServed == false { return (false, "The running daemon uses another configuration, so it was not reloaded.") }
    guard isServed != nil, var daemon = try options.connectIfRunning() else {
      return (false, "No daemon is running. The change takes effect when the daemon starts.")
    }
    _ = try daemon.call(ReloadConfiguration())
    return (true, "The daemon has loaded the change.")
  }

  /// Reloads the daemon's configuration after a change and prints the result. `json` contains additional members for
  /// JSON output. `kept` is the path of the backup.
  func report(_ what: String, _ json: JSONObject, _ kept: String?) throws {
    let reload = try reload()
    var json = json
    json["configuration"] = .string(file.path)
    json["kept"] = JSON(kept)
    json["reloaded"] = .bool(reload.isDone)
    options.output.show(.object(json)) {
      what + (kept.map { "; the previous file is saved as \($0)." } ?? ".") + "\n\(reload.sentence)"
    }
  }
}

struct AccountListVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the accounts in the configuration, even without a daemon.",
    discussion: """
      For example:

        hearthctl account list
        hearthctl account list --config ~/other.toml --json
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var list: ListOptions

  func run() throws {
    let setting = try AccountSetting(options, daemonOptions)
    let accounts = try setting.file.accounts()
    let sessions = try setting.sessions()
    let rows = accounts.map { ($0, sessions[$0.name]) }
    let json: JSON = [
      "configuration": WholeFile.exists(setting.file.path) ? .string(setting.file.path) : nil,
      "accounts": .array(
        rows.map { account, session in
          var row = account.json.object ?? [:]
          row["state"] = JSON(session?.state.name)
          return .object(row)
        }),
    ]
    list.show(json, daemonOptions.output) { room in
      guard !rows.isEmpty else {
        return "There are no accounts in \(setting.file.path). Add one with \"hearthctl account add\"."
      }
      // The sessions' states are known only if the running daemon uses this file.
      let isKnown = setting.isServed == true
      var table = Table(
        columns: [
          .init("ACCOUNT"), .init("PROVIDER", rank: 2), .init("TYPE", rank: 3), .init("SEALED", isExtra: true),
          .init("ISSUER", rank: 1),
        ] + (isKnown ? [.init("STATE")] : []))
      table.rows = rows.map { account, session in
        [account.name, account.provider ?? "-", account.type, account.protection, account.issuer]
          + (isKnown ? [session?.words ?? "not loaded"] : [])
      }
      return table.text(within: room)
    }
  }
}

struct AccountProvidersVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "providers", abstract: "List the known providers, and the options that each needs.",
    discussion: """
      For example:

        hearthctl account providers
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var list: ListOptions

  func run() throws {
    let providers = try DaemonProgram.find().providers()
    list.show(["providers": .array(providers.map(\.json))], daemonOptions.output) { room in
      var table = Table(columns: [.init("PROVIDER"), .init("TYPE", rank: 1), .init("NEEDS")])
      table.rows = providers.map { provider in
        let options = provider.required.map(Self.option) + provider.usual.map { "[\(Self.option($0))]" }
        return [provider.name, provider.type, options.joined(separator: " ")]
      }
      return table.text(within: room)
        + "\n\nMost clients also need the options in brackets. For details, run \"hearthctl docs providers\"."
    }
  }

  private static func option(_ key: String) -> String { "--" + key.replacing("_", with: "-") }
}

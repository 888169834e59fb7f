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

  init(_ options: AccountOptions, _ daemonOptions: DaemonOptions) throws {
    var program = try DaemonProgram.find()
    var (isRunning, used): (Bool, String?) = (false, nil)
    if var daemon = try daemonOptions.connectIfRunning() {
      let info = try daemon.call(GetInfo()).value
      used = info.path("configuration")
      isRunning = true
      program = program.reading(as: info)
    }
    let path = try ConfigurationPlace.path(option: options.config, daemon: used, else: .ofThisProcess)
    isServed = isRunning ? used == nil || used == path : nil
    file = AccountFile(path: path, program: program)
  }

  /// Reloads the daemon if it uses the file. Returns whether the daemon was reloaded.
  func reload(_ daemonOptions: DaemonOptions) throws -> Bool {
    guard isServed == true, var daemon = try daemonOptions.connectIfRunning() else { return false }
    _ = try daemon.call(ReloadConfiguration())
    return true
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
    let states = try states(setting)
    let rows = accounts.map { ($0, states[$0.name]) }
    let json: JSON = [
      "configuration": ConfigurationPlace.exists(setting.file.path) ? .string(setting.file.path) : nil,
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

  private func states(_ setting: AccountSetting) throws -> [String: SessionStatus] {
    guard setting.isServed == true, var daemon = try daemonOptions.connectIfRunning() else { return [:] }
    let sessions = try daemon.call(ListSessions()).value.sessions
    return Dictionary(sessions.map { ($0.account.description, $0) }) { first, _ in first }
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

import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct ProtectVerb: ParsableCommand {
  enum Way: String, CaseIterable, ExpressibleByArgument {
    case passphrase
    case keyFile = "key-file"
    case none
  }

  static let configuration = CommandConfiguration(
    commandName: "protect", abstract: "Choose how to seal an account's credential on disk.",
    discussion: """
      Changes the configuration and makes the daemon rewrite the credential. The old file is kept until the new one is \
      complete. For example:

        hearthctl protect work --with passphrase
        hearthctl protect work --with key-file --key-file /media/stick/hearth.key
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions

  @Argument(help: "Name of the account.", completion: Completions.accounts)
  var account: String

  @Option(name: .customLong("with"), help: "How to seal the credential: passphrase, key-file or none.")
  var way: Way

  @Option(
    help: ArgumentHelp(
      "Key file, created if it is missing (default: next to the configuration).",
      valueName: "file"), completion: .file())
  var keyFile: String?

  @Flag(help: "Read the new or current passphrase from the first line of standard input.")
  var passphraseStdin = false

  func validate() throws {
    guard keyFile == nil || way == .keyFile else {
      throw ValidationError("--key-file requires --with key-file.")
    }
  }

  func run() throws {
    let account = try AccountName(asked: account)
    let setting = try AccountSetting(options, daemonOptions)
    guard setting.isServed == true else {
      throw CommandFailure(
        .noDaemon,
        "Only the daemon can seal credentials, but no running daemon uses \(setting.file.path). Start hearthd with "
          + "this configuration.")
    }
    guard let before = try setting.file.accounts().first(where: { $0.name == account.description }) else {
      throw CommandFailure(.failed, "There is no account \(account) in \(setting.file.path).")
    }
    guard try needsChange(before, setting.file.path) else {
      return report(account, setting.file.path, kept: nil, "Nothing had to be changed.")
    }
    var daemon = try daemonOptions.connect()
    let passphrase = try open(account, before, &daemon)
    var values = ["protection": way.rawValue]
    if way == .keyFile {
      let file = keyFilePath(beside: setting.file.path)
      try makeKeyFile(file)
      values["key_file"] = file
    }
    let kept = try setting.file.change(values.keys.sorted(by: >), of: account) { key, old in
      try values[key].map { try TOMLTable.text(of: .string($0), for: key) } ?? old
    }
    _ = try daemon.call(ReloadConfiguration())
    if let passphrase { _ = try daemon.call(UnlockSessions(account, passphrase: passphrase)) }
    try awaitSeal(of: account, &daemon)
    let note =
      switch way {
      case .passphrase: "After each start of hearthd, unlock the account with \"hearthctl unlock \(account)\"."
      case .keyFile: "Its key is in \(values["key_file"] ?? ""). If you lose that file, you have to sign in again."
      case .none:
        before.keyFile.map { "The key file \($0) is no longer used." }
          ?? "Anyone who can read your files can read it."
      }
    report(account, setting.file.path, kept: kept, note)
  }

  private func keyFilePath(beside configuration: String) -> String {
    keyFile.map(EnvironmentPaths.absolute)
      ?? configuration[...(configuration.lastIndex(of: "/") ?? configuration.startIndex)] + "\(account).key"
  }

  /// Returns false if the credential is already protected in this way. Throws if the user tries to replace one
  /// passphrase or one key file with another, because the daemon can use only one of each kind at a time.
  private func needsChange(_ before: DaemonProgram.Account, _ configuration: String) throws -> Bool {
    guard before.protection == way.rawValue else { return true }
    switch way {
    case .none: return false
    case .keyFile:
      guard let used = before.keyFile, keyFile != nil, used != keyFilePath(beside: configuration) else { return false }
      throw CommandFailure(
        .failed,
        "\(account) is already sealed with the key file \(used). To change the key file, protect the account with a "
          + "passphrase first.")
    case .passphrase:
      throw CommandFailure(
        .failed,
        "\(account) is already sealed with a passphrase. To change the passphrase, protect the account with a key file "
          + "first.")
    }
  }

  /// Checks that the credential can be opened. Returns the new or current passphrase if the daemon needs it after
  /// reloading, and otherwise `nil`.
  private func open(
    _ account: AccountName, _ before: DaemonProgram.Account, _ daemon: inout ControlClient
  ) throws -> Secret? {
    let status = try daemon.call(GetSession(account)).value
    if case .locked = status.state, status.state.reason != AccessFailure.Kind.passphraseRequired.rawValue {
      throw CommandFailure(
        .locked, "\(account) is locked, so its credential cannot be rewritten: \(status.message)")
    }
    guard before.protection == Way.passphrase.rawValue else {
      return way == .passphrase ? try passphrase { try Input.newPassphrase(of: account) } : nil
    }
    let passphrase = try passphrase { try Input.ask("Passphrase for \(account): ", echo: false) }
    _ = try daemon.call(UnlockSessions(account, passphrase: passphrase))
    return passphrase
  }

  /// Reads the passphrase from standard input if `--passphrase-stdin` is set, and otherwise from the terminal.
  private func passphrase(_ typed: () throws -> String) throws -> Secret {
    if passphraseStdin { return Secret(try Input.secret(prompt: "Passphrase: ")) }
    guard Input.isTerminal else {
      throw ValidationError("A passphrase is needed, but there is no terminal to enter it in. Use --passphrase-stdin.")
    }
    return Secret(try typed())
  }

  /// Creates a key file with a 256-bit key. Does not change an existing file. If the existing file is invalid, hearthd
  /// reports that later.
  private func makeKeyFile(_ path: String) throws {
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<4).map { _ in
      let number = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - number.count) + number
    }
    guard WholeFile.create(Array((digits.joined() + "\n").utf8), at: path) || errno == EEXIST else {
      throw CommandFailure(.failed, "Cannot create the key file \(path): \(reason()).")
    }
  }

  /// Waits until the daemon has rewritten the credential with the new protection. Throws after 15 seconds.
  private func awaitSeal(of account: AccountName, _ daemon: inout ControlClient) throws {
    _ = try daemon.call(RehydrateSessions(account))
    let deadline = Timestamp.now + .seconds(15)
    var status = try daemon.call(GetSession(account)).value
    while status.state == .hydrating || status.isWritePending, Timestamp.now < deadline {
      poll(nil, 0, 50)
      status = try daemon.call(GetSession(account)).value
    }
    guard status.state == .hydrating || status.isWritePending else { return }
    throw CommandFailure(
      .later,
      "The configuration now contains protection = \"\(way.rawValue)\", but Hearth has not yet rewritten the "
        + "credential of \(account) (\(status.credentialError ?? "it has not been read")). Nothing is lost, and Hearth "
        + "keeps trying.")
  }

  private func report(_ account: AccountName, _ configuration: String, kept: String?, _ note: String) {
    daemonOptions.output.show([
      "account": .string(account.description), "protection": .string(way.rawValue),
      "configuration": .string(configuration), "kept": JSON(kept),
    ]) {
      let what =
        switch way {
        case .passphrase: "sealed with a passphrase"
        case .keyFile: "sealed with a key file"
        case .none: "as plain text"
        }
      return "Hearth keeps the credential of \(account) \(what). \(note)"
        + (kept.map { "\nThe previous configuration is saved as \($0)." } ?? "")
    }
  }
}

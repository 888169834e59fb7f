import ArgumentParser
import HearthControl

struct UnlockVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Take the user's lock away; asks for the passphrase where one is needed.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  @Flag(help: "Read the passphrase from standard input, one line.")
  var passphraseStdin = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json =
      passphraseStdin
      ? try unlock(account, &daemon, passphrase: try Input.secret(prompt: "Passphrase: ")).get()
      : try unlockAsking(&daemon)
    let sessions = try Daemon.sessions(json, from: .sessionUnlock)
    daemonOptions.output.show(json) { sessions.map { "\($0.account): \($0.message)" }.joined(separator: "\n") }
    guard !sessions.contains(where: { $0.state == "locked" }) else { throw CommandFailure(.locked, nil) }
  }

  private func unlock(
    _ account: String?, _ daemon: inout Daemon, passphrase: String? = nil
  ) throws -> Result<JSON, RPCError> {
    try daemon.attempt(
      .sessionUnlock,
      JSONObject(given: ["account": account.map(JSON.string), "passphrase": passphrase.map(JSON.string)]))
  }

  /// Asks for the passphrase of each account that needs one, each once, where there is a terminal to ask on.
  private func unlockAsking(_ daemon: inout Daemon) throws -> JSON {
    var asked: Set<String> = []
    while true {
      let outcome = try unlock(account, &daemon)
      guard case .failure(let error) = outcome, error.kind == .passphraseNeeded, Input.isTerminal,
        let name = error.account ?? account, asked.insert(name).inserted
      else { return try outcome.get() }
      let isNew = try daemon.session(name).state != "locked"
      let passphrase = try Input.ask("\(isNew ? "New passphrase" : "Passphrase") for \(name): ", echo: false)
      if isNew, try Input.ask("Again: ", echo: false) != passphrase {
        throw CommandFailure(.failed, "The two passphrases are not the same: nothing was set.")
      }
      let unlocked = try unlock(name, &daemon, passphrase: passphrase)
      if case .failure = unlocked { return try unlocked.get() }
      if account != nil { return try unlocked.get() }
    }
  }
}

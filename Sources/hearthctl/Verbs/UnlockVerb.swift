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
    var failure = ExitStatus.done
    let json: JSON
    if passphraseStdin {
      json = try unlock(account, &daemon, passphrase: try Input.secret(prompt: "Passphrase: ")).get()
    } else if let account {
      json = try unlockAsking(account, &daemon)
    } else {
      (json, failure) = try unlockAll(&daemon)
    }
    let sessions = try Daemon.sessions(json, from: .sessionUnlock)
    daemonOptions.output.show(json) { sessions.map { "\($0.account): \($0.message)" }.joined(separator: "\n") }
    if sessions.contains(where: { $0.state == "locked" }) { failure = ExitStatus.worst([failure, .locked]) }
    guard failure == .done else { throw CommandFailure(failure, nil) }
  }

  private func unlock(
    _ account: String?, _ daemon: inout Daemon, passphrase: String? = nil
  ) throws -> Result<JSON, RPCError> {
    try daemon.attempt(
      .sessionUnlock,
      JSONObject(given: ["account": account.map(JSON.string), "passphrase": passphrase.map(JSON.string)]))
  }

  /// Asks for the passphrase where the account needs one and there is a terminal to ask on.
  private func unlockAsking(_ account: String, _ daemon: inout Daemon) throws -> JSON {
    let outcome = try unlock(account, &daemon)
    guard case .failure(let error) = outcome, error.kind == .passphraseNeeded, Input.isTerminal else {
      return try outcome.get()
    }
    // What is sealed locks the session; where it is not locked, there is nothing sealed yet.
    let isFirst = try daemon.session(account).state != "locked"
    let passphrase =
      isFirst
      ? try firstPassphrase(of: account) : try Input.ask("Passphrase for \(account): ", echo: false)
    return try unlock(account, &daemon, passphrase: passphrase).get()
  }

  private func firstPassphrase(of account: String) throws -> String {
    Output.note("\(account) has no passphrase yet: choose the one that will protect its credential.")
    let passphrase = try Input.ask("New passphrase for \(account): ", echo: false)
    guard try Input.ask("Again: ", echo: false) == passphrase else {
      throw CommandFailure(.failed, "The two passphrases are not the same: nothing was set.")
    }
    return passphrase
  }

  /// One account that cannot be unlocked keeps none of the others locked.
  private func unlockAll(_ daemon: inout Daemon) throws -> (JSON, ExitStatus) {
    let json = try unlock(nil, &daemon).get()
    guard Input.isTerminal else { return (json, .done) }
    var failure = ExitStatus.done
    for session in try Daemon.sessions(json, from: .sessionUnlock) {
      do {
        _ = try unlockAsking(session.account, &daemon)
      } catch let error as RPCError {
        Output.error("\(session.account): \(error.message)")
        failure = ExitStatus.worst([failure, ExitStatus(error)])
      }
    }
    return (try daemon.call(.sessionList), failure)
  }
}

import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct UnlockVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Unlock one or all accounts, and ask for a passphrase if needed.",
    discussion: """
      For example:

        hearthctl unlock work
        pass show hearth | hearthctl unlock work --passphrase-stdin
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Flag(help: "Read the passphrase from the first line of standard input.")
  var passphraseStdin = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try choice.name
    var failure = ExitStatus.done
    let reply: Reply<Sessions>
    if passphraseStdin {
      let passphrase = try Input.secret(prompt: "Passphrase: ")
      reply = try daemon.call(UnlockSessions(account, passphrase: Secret(passphrase)))
    } else if let account {
      reply = try unlockAsking(account, &daemon)
    } else {
      (reply, failure) = try unlockAll(&daemon)
    }
    daemonOptions.output.show(reply.json) { reply.value.messages() }
    if reply.value.sessions.contains(where: \.isLocked) { failure = ExitStatus.worst([failure, .locked]) }
    guard failure == .done else { throw CommandFailure(failure, nil) }
  }

  /// Unlocks an account. Asks for the passphrase if the account needs one and there is a terminal.
  private func unlockAsking(_ account: AccountName, _ daemon: inout ControlClient) throws -> Reply<Sessions> {
    do {
      return try daemon.call(UnlockSessions(account))
    } catch {
      guard case ControlClient.Failure.refused(let refusal) = error, refusal.kind == .passphraseNeeded, Input.isTerminal
      else { throw error }
    }
    // A sealed credential would have locked the session. If the session is not locked, the account therefore has no
    // passphrase yet.
    let isFirst = try !daemon.call(GetSession(account)).value.isLocked
    if isFirst { Output.note("\(account) has no passphrase yet. Choose one to protect its credential.") }
    let passphrase =
      isFirst
      ? try Input.newPassphrase(of: account) : try Input.ask("Passphrase for \(account): ", echo: false)
    return try daemon.call(UnlockSessions(account, passphrase: Secret(passphrase)))
  }

  /// Unlocks all accounts, and asks for passphrases if there is a terminal. Continues after an error.
  private func unlockAll(_ daemon: inout ControlClient) throws -> (Reply<Sessions>, ExitStatus) {
    let reply = try daemon.call(UnlockSessions(nil))
    guard Input.isTerminal else { return (reply, .done) }
    var failure = ExitStatus.done
    for session in reply.value.sessions {
      do {
        _ = try unlockAsking(session.account, &daemon)
      } catch ControlClient.Failure.refused(let rejection) {
        Output.error("\(session.account): \(rejection.message)")
        failure = ExitStatus.worst([failure, ExitStatus(rejection)])
      }
    }
    return (try daemon.call(ListSessions()), failure)
  }
}

extension SessionStatus {
  fileprivate var isLocked: Bool {
    if case .locked = state { true } else { false }
  }
}

import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct AccountRemoveVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Sign out of an account, and remove it from the configuration.",
    discussion: """
      Removes the account's tables with the comments directly above them, and any default_account or [[use]] rules \
      that name the account. The rest of the file stays unchanged, and the previous file is saved as config.toml.bak. \
      Files that Hearth only reads, such as a client's secret, are not deleted. For example:

        hearthctl account remove work
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var choice: NamedAccount

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Do not sign out, and keep the credential for a later account with this name.")
  var keepCredential = false

  func run() throws {
    let account = try choice.name
    let setting = try AccountSetting(options, daemonOptions)
    // Check that the removal will succeed before signing out.
    try setting.file.remove(account, isTrial: true)
    var before = try look(at: account, setting)
    before.rules = try setting.file.ruleLines(of: account)
    if let question = before.question(account, setting.file.path, keepCredential: keepCredential), !yes {
      guard Input.isTerminal else { throw ValidationError("\(question) Use --yes to confirm.") }
      guard try AccountAddVerb.agrees("\(question) Remove the account? [y/N] ", or: false) else {
        throw CommandFailure(.failed, "Nothing was changed.")
      }
    }
    let signedOut = try keepCredential ? nil : signOut(of: account, setting)
    let kept = try setting.file.remove(account, isTrial: false)
    let isReloaded = try setting.reload().isDone
    report(account, before, signedOut, kept, isReloaded, setting.file.path)
  }

  /// Information for the user before an account is removed.
  private struct Before {
    /// The session, or `nil` if the daemon does not know the account.
    var session: SessionStatus?
    /// The number of undelivered items.
    var waiting = 0
    /// The numbers of the configuration's lines that select the account by default.
    var rules: [Int] = []

    var isSignedIn: Bool {
      switch session?.state {
      case .authenticated, .locked, .hydrating: true
      case .unauthenticated, .reauthRequired, nil: false
      }
    }

    /// Returns what to tell the user before asking for confirmation, or `nil` if no confirmation is needed.
    func question(_ account: AccountName, _ path: String, keepCredential: Bool) -> String? {
      let items = waiting > 0 ? "has \(waiting.items) in its outbox" : nil
      let parts = [isSignedIn ? "is signed in" : nil, items].compactMap(\.self)
      var sentences = parts.isEmpty ? [] : ["\(account) \(parts.joined(separator: " and "))."]
      if isSignedIn, !keepCredential { sentences.append("You will be signed out.") }
      if !rules.isEmpty {
        let lines = rules.map(String.init).joined(separator: ", ")
        sentences.append(
          "The rule\(rules.count == 1 ? " in line" : "s in lines") \(lines) of \(path) that "
            + "\(rules.count == 1 ? "selects" : "select") \(account) will also be removed.")
      }
      return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
  }

  private func look(at account: AccountName, _ setting: AccountSetting) throws -> Before {
    guard var daemon = try setting.daemon() else {
      guard keepCredential else {
        throw CommandFailure(
          .noDaemon,
          "No running daemon uses this configuration, so Hearth cannot sign you out of \(account). Start the daemon, "
            + "or keep the credential with --keep-credential.")
      }
      return Before()
    }
    var before = Before()
    do {
      before.session = try daemon.call(GetSession(account)).value
      let stats = try daemon.outboxStats(of: account)
      before.waiting = stats.map { $0.pending + $0.inFlight + $0.waiting + $0.held } ?? 0
    } catch {
      // If the daemon has not loaded the account, there is no session.
      guard case ControlClient.Failure.refused(let rejection) = error, rejection.kind == .unknownAccount
      else { throw error }
    }
    return before
  }

  /// Signs out. Returns `nil` if no daemon uses the file or if the daemon does not know the account.
  private func signOut(of account: AccountName, _ setting: AccountSetting) throws -> SignedOut? {
    guard var daemon = try setting.daemon() else { return nil }
    do {
      return try daemon.call(SignOut(account, revoke: true, outbox: .keep), within: .seconds(60)).value
    } catch {
      guard case ControlClient.Failure.refused(let rejection) = error, rejection.kind == .unknownAccount
      else { throw error }
      return nil
    }
  }

  private func report(
    _ account: AccountName, _ before: Before, _ signedOut: SignedOut?, _ kept: String?, _ isReloaded: Bool,
    _ path: String
  ) {
    daemonOptions.output.show([
      "account": .string(account.description), "configuration": .string(path), "kept": JSON(kept),
      "reloaded": .bool(isReloaded), "signedOut": .bool(signedOut != nil),
      "revoked": signedOut.map { .bool($0.revocation == .done) } ?? .null, "waiting": JSON(before.waiting),
    ]) {
      var lines = ["Removed \(account) from \(path)" + (kept.map { "; the previous file is saved as \($0)." } ?? ".")]
      if let signedOut, before.isSignedIn {
        // Do not promise a retry of a failed revocation, because Hearth cannot revoke grants of an account that has
        // been removed.
        let note = SignedOut.Revocation.none.note ?? ""
        lines.append(
          signedOut.revocation == .done ? "Signed out, and revoked the grant." : "Signed out. \(note)")
      }
      if before.waiting > 0 {
        lines.append(
          "\(before.waiting) undelivered \(before.waiting == 1 ? "item remains" : "items remain") in the outbox. "
            + "Hearth sends an item only after you add an account with this name and the user who queued the item "
            + "signs in.")
      }
      return lines.joined(separator: "\n")
    }
  }
}

import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct LogoutVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: SignOut.summary,
    discussion: """
      For example:

        hearthctl logout work
        hearthctl logout work --everywhere --discard-outbox
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: NamedAccount

  @Flag(name: .customLong("no-revoke"), help: "Do not revoke the grant at the provider.")
  var keepsGrant = false

  @Flag(help: "Discard the user's undelivered outbox items.")
  var discardOutbox = false

  @Flag(help: "Also end the session at the provider, in the browser.")
  var everywhere = false

  @Flag(help: "With --everywhere, print the address instead of opening a browser.")
  var noBrowser = false

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try choice.name
    let before = try daemon.call(GetSession(account)).value.state
    let reply = try daemon.call(
      SignOut(account, revoke: !keepsGrant, outbox: discardOutbox ? .discard : .keep, everywhere: everywhere))
    let wasSignedOut: Bool = if case .unauthenticated = before { true } else { false }
    daemonOptions.output.show(reply.json) {
      wasSignedOut ? "\(account) was already signed out." : reply.value.status.message.shown()
    }
    if !wasSignedOut, !keepsGrant, !daemonOptions.json, let note = reply.value.revocation.note { Output.note(note) }
    if !wasSignedOut, !discardOutbox, !daemonOptions.json { noteWaiting(account, &daemon) }
    if let page = reply.value.endSession { show(page, account) }
  }

  private func noteWaiting(_ account: AccountName, _ daemon: inout ControlClient) {
    guard let stats = try? daemon.call(GetOutboxStats(account)).value else { return }
    let count = stats.pending + stats.waiting + stats.held
    guard count > 0 else { return }
    Output.note(
      "\(count) undelivered \(count == 1 ? "outbox item remains" : "outbox items remain"). Hearth sends an item only "
        + "after the user who queued it signs in again. To list \(count == 1 ? "it" : "them"), run "
        + "\"hearthctl outbox list \(account)\".")
  }

  private func show(_ page: SignedOut.EndSession, _ account: AccountName) {
    switch page {
    case .url(let url):
      let isOpening = !noBrowser && Browser(opening: url) != nil
      if daemonOptions.json { break }
      let what =
        isOpening
        ? "Opening your browser to end the session of \(account) at the provider. If it does not open, go to:"
        : "Open this address in a browser to end the session of \(account) at the provider:"
      Output.note("\(what)\n\n  \(url)\n")
    case .missing(let sentence): Output.note(sentence)
    }
  }
}

extension SignedOut.Revocation {
  /// A note for the user, or `nil` if the grant is revoked.
  var note: String? {
    switch self {
    case .done: nil
    case .later: "Hearth could not revoke the grant at the provider yet. It keeps trying for up to seven days."
    case .none:
      "The provider did not confirm that it revoked the grant. Revoke the client's access on the provider's website."
    }
  }
}

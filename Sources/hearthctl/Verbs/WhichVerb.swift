import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct WhichVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "which", abstract: "Show which account is used by default, and why.",
    discussion: """
      Hearth uses the first of these that applies: HEARTH_ACCOUNT; the [[use]] rule that matches the current directory \
      and the URL (the one with the longest url, then the longest directory); default_account; the only account.

      For example:

        hearthctl which
        hearthctl which https://github.com/acme/notes.git
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "URL that the token is for.")
  var url: String?

  func run() throws {
    var daemon = try daemonOptions.connect(timeout: ControlClient.shortTimeout)
    let account = try DefaultAccount.name(nil, for: url, &daemon)
    // Check that the account exists, because it may come from the environment variable.
    _ = try daemon.call(GetSession(account))
    if variable(DefaultAccount.variableName) != nil {
      daemonOptions.output.show(["account": .string(account.description), "reason": "environment"]) {
        "\(account): selected by \(DefaultAccount.variableName)."
      }
    } else {
      let choice = try DefaultAccount.choice(for: url, &daemon)
      daemonOptions.output.show(choice.json) { "\(account): \(Self.sentence(choice.value))" }
    }
  }

  private static func sentence(_ choice: ChosenAccount) -> String {
    switch choice.reason {
    case .rule:
      let places = [choice.directory.map { "directory \($0)" }, choice.url.map { "url \($0)" }].compactMap(\.self)
      return "selected by a [[use]] rule\(places.isEmpty ? "" : " for \(places.joined(separator: " and "))")."
    case .preset: return "selected by default_account."
    case .only: return "selected as the only account."
    case nil: return "selected for an unknown reason."
    }
  }
}

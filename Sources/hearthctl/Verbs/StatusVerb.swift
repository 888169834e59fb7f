import ArgumentParser

struct StatusVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the status of each session. Exits with the status of the worst one.",
    discussion: """
      On a terminal, a bar shows how much of the token's lifetime is left. The line in the bar marks when Hearth will \
      refresh the token. For example:

        hearthctl status --watch
        hearthctl status work --log
        hearthctl status work --json | jq -r .state
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Flag(help: "Go on and print again whenever something changes.")
  var watch = false

  @Flag(help: "Show the last lines of the journal, too.")
  var log = false

  @Flag(
    help: """
      Exit with 1 also if the configuration was refused, or if the outbox has dead or held items or cannot be used.
      """)
  var strict = false

  func run() throws { try call.run() }

  var call: StatusCall {
    StatusCall(account: choice.account, watch: watch, log: log, strict: strict, daemon: daemonOptions.choice)
  }
}

import ArgumentParser

struct StatusVerb: CallVerb {
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

  @Flag(help: "Keep running, and print the status again whenever it changes.")
  var watch = false

  @Flag(help: "Also show the last lines of the journal.")
  var log = false

  @Flag(
    help: "Also exit with 1 if the daemon has a warning, or if the outbox has dead or held items or cannot be used.")
  var strict = false

  var call: StatusCall {
    StatusCall(account: choice.account, watch: watch, log: log, strict: strict, daemon: daemonOptions.choice)
  }
}

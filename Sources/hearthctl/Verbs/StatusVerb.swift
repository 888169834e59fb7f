import ArgumentParser

struct StatusVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the status of the sessions; the exit status is that of the worst.",
    discussion: """
      For example:

        hearthctl status --watch
        hearthctl status work --json | jq -r .state
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Flag(help: "Go on and print again whenever something changes.")
  var watch = false

  func run() throws { try call.run() }

  var call: StatusCall { StatusCall(account: choice.account, watch: watch, daemon: daemonOptions.choice) }
}

import ArgumentParser

/// The options that select the account and the daemon for a helper.
struct CredentialSource: ParsableArguments {
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "Account (default: see \"hearthctl which URL\", otherwise the first with the server in its api_origins).",
      valueName: "name"),
    completion: Completions.accounts)
  var account: String?

  var choice: CredentialChoice { CredentialChoice(account: account, daemon: daemonOptions.choice) }
}

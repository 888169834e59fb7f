import ArgumentParser

/// The options that select the account and the daemon for a helper.
struct CredentialSource: ParsableArguments {
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "Account (default: the one that \"hearthctl which URL\" shows, else the first one with the server in its "
        + "api_origins).", valueName: "name"),
    completion: Completions.accounts)
  var account: String?

  var choice: CredentialChoice { CredentialChoice(account: account, daemon: daemonOptions.choice) }
}

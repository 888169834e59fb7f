import ArgumentParser

/// The options that select the account and the daemon for a helper.
struct CredentialSource: ParsableArguments {
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "The account (default: the one that \"hearthctl which URL\" tells, else the first one that has the server among "
        + "its api_origins).", valueName: "name"),
    completion: Completions.accounts)
  var account: String?

  var choice: CredentialChoice { CredentialChoice(account: account, daemon: daemonOptions.choice) }
}

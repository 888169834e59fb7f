import ArgumentParser

/// Where the helpers of other programs have their tokens from.
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

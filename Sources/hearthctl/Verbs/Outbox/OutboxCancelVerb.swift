import ArgumentParser
import HearthControl

struct OutboxCancelVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cancel", abstract: CancelItems.summary)

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.change("cancelled", daemonOptions) { CancelItems($0) }
  }
}

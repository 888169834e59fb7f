import ArgumentParser
import HearthControl

struct OutboxRetryVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "retry", abstract: RetryItems.summary)

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.change("put back", daemonOptions) { RetryItems($0) }
  }
}

import ArgumentParser
import HearthControl

struct OutboxRetryVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Put dead or held items back, at the end of their lane.")

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.call(.outboxRetry, "put back", daemonOptions)
  }
}

import ArgumentParser
import HearthControl

struct OutboxCancelVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Take items out, unsent.")

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.call(.outboxCancel, "cancelled", daemonOptions)
  }
}

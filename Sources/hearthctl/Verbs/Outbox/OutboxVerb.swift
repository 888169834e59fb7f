import ArgumentParser

struct OutboxVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outbox", abstract: "Queue requests, and see what becomes of them.",
    subcommands: [
      OutboxAddVerb.self, OutboxListVerb.self, OutboxShowVerb.self, OutboxRetryVerb.self, OutboxCancelVerb.self,
      OutboxPauseVerb.self, OutboxResumeVerb.self, OutboxFlushVerb.self, OutboxStatsVerb.self,
    ])
}

import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

/// The verbs for the outbox. Longer verbs have their own files.
struct OutboxVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outbox", abstract: "Queue requests and follow their delivery.",
    subcommands: [
      OutboxAddVerb.self, OutboxListVerb.self, OutboxShowVerb.self, OutboxRetryVerb.self, OutboxCancelVerb.self,
      OutboxPauseVerb.self, OutboxResumeVerb.self, OutboxFlushVerb.self, OutboxStatsVerb.self,
      OutboxExportVerb.self, OutboxImportVerb.self,
    ])
}

struct OutboxShowVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: GetItem.summary,
    discussion: """
      For example:

        hearthctl outbox show ID
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "ID of the item.", completion: Completions.items([.dead, .held, .waiting, .pending, .delivered]))
  var id: String

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(GetItem(id))
    daemonOptions.output.show(reply.json) {
      var shown = reply.json.object ?? [:]
      if reply.value.isUnreached { shown["attempts"] = "0 (only attempts that reach the API count)" }
      return JSON.object(shown).rows
    }
  }
}

/// The items to change: one item, or all dead or held items of an account.
struct OutboxChoice: ParsableArguments {
  @Argument(help: "ID of the item.", completion: Completions.items([.dead, .held, .waiting, .pending]))
  var id: String?

  @Option(
    help: ArgumentHelp("All dead items of this account.", valueName: "account"), completion: Completions.accounts)
  var dead: String?

  @Option(
    help: ArgumentHelp("All held items of this account.", valueName: "account"), completion: Completions.accounts)
  var held: String?

  func validate() throws {
    guard [id, dead, held].count(where: { $0 != nil }) == 1 else {
      throw ValidationError("Give the ID of an item, --dead ACCOUNT or --held ACCOUNT.")
    }
  }

  /// Changes the chosen items and prints their number. `done` is the participle for the message, such as "cancelled".
  func change<Method: ItemChangeMethod>(
    _ done: String, _ options: DaemonOptions, _ method: (ItemChoice) -> Method
  ) throws {
    var daemon = try options.connect()
    let choice: ItemChoice =
      if let id { .item(id) } else { .all(try AccountName(asked: dead ?? held ?? ""), in: dead == nil ? .held : .dead) }
    let reply = try daemon.call(method(choice))
    options.output.show(reply.json) { "\(reply.value.count.items) \(done)." }
  }
}

struct OutboxRetryVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: RetryItems.summary,
    discussion: """
      For example:

        hearthctl outbox retry ID
        hearthctl outbox retry --dead work
        hearthctl outbox retry --held work
      """)

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.change("queued again", daemonOptions) { RetryItems($0) }
  }
}

struct OutboxCancelVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: CancelItems.summary,
    discussion: """
      For example:

        hearthctl outbox cancel ID
        hearthctl outbox cancel --dead work
      """)

  @OptionGroup var choice: OutboxChoice
  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    try choice.change("cancelled", daemonOptions) { CancelItems($0) }
  }
}

struct OutboxPauseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: PauseOutbox.summary,
    discussion: """
      For example:

        hearthctl outbox pause work
        hearthctl outbox pause --all
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: OutboxAccount

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try choice.name(&daemon)
    let reply = try daemon.call(PauseOutbox(account))
    daemonOptions.output.show(reply.json) { account.map { "Paused the outbox of \($0)." } ?? "Paused all outboxes." }
  }
}

struct OutboxResumeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: ResumeOutbox.summary,
    discussion: """
      For example:

        hearthctl outbox resume work
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: OutboxAccount

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try choice.name(&daemon)
    let reply = try daemon.call(ResumeOutbox(account))
    daemonOptions.output.show(reply.json) { account.map { "Resumed the outbox of \($0)." } ?? "Resumed all outboxes." }
  }
}

struct OutboxStatsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: GetOutboxStats.summary,
    discussion: """
      For example:

        hearthctl outbox stats work
        hearthctl outbox stats --json | jq .pending
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: OutboxAccount

  func run() throws {
    var daemon = try daemonOptions.connect()
    let account = try choice.name(&daemon)
    let reply = try daemon.call(GetOutboxStats(account))
    daemonOptions.output.show(reply.json) { Self.text(reply.value) }
  }

  static func text(_ stats: OutboxStats) -> String {
    let counts = [
      ("pending", stats.pending), ("in flight", stats.inFlight), ("waiting", stats.waiting), ("held", stats.held),
      ("delivered", stats.delivered), ("dead", stats.dead), ("bytes", stats.bytes),
    ]
    var lines = counts.map { $0.padded(to: 11) + "\($1)" }
    if let oldest = stats.oldestPendingAt { lines.append("oldest".padded(to: 11) + oldest.relative(to: .now)) }
    if stats.isPaused { lines.append("paused".padded(to: 11) + (stats.pausedReason ?? "yes")) }
    return lines.joined(separator: "\n")
  }
}

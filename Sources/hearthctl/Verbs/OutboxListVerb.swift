import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct OutboxListVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: ListItems.summary,
    discussion: """
      For example:

        hearthctl outbox list work --state dead
        hearthctl outbox list --json --limit 1000
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var list: ListOptions
  @OptionGroup var choice: OutboxAccount

  @Option(help: "Only items in this state.", completion: .list(OutboxItem.State.allCases.map(\.rawValue)))
  var state: String?

  @Option(help: "Only items in this lane.")
  var lane: String?

  @Option(help: ArgumentHelp("Maximum number of items (default 100).", valueName: "count"))
  var limit: Int?

  @Option(help: "Cursor that the previous list printed. The new list continues there.")
  var cursor: String?

  func validate() throws {
    if let limit, !(1...1000).contains(limit) { throw ValidationError("--limit must be between 1 and 1000.") }
    if let cursor, Int64(cursor) == nil {
      throw ValidationError("--cursor must be the value that the previous list printed, not \(cursor.shown()).")
    }
  }

  func run() throws {
    let state: OutboxItem.State? = try state.map { try WireType.choice.value($0, as: "--state") }
    var daemon = try daemonOptions.connect()
    var query = OutboxQuery(account: try choice.name(&daemon), lane: lane.map { Name($0) }, cursor: cursor)
    query.state = state
    if let limit { query.limit = limit }
    let reply = try daemon.call(ListItems(query))
    let page = reply.value
    let accounts = query.account == nil && Output.isTerminal ? try daemon.call(ListSessions()).value.sessions.count : 1
    list.show(reply.json, daemonOptions.output) { room in
      page.items.isEmpty ? "There are no items." : Self.table(page.items, ofSeveral: accounts > 1).text(within: room)
    }
    if let cursor = page.cursor, !daemonOptions.json, list.format != .json {
      Output.note("There are more items. To list them, add --cursor \(cursor).")
    }
  }

  /// Returns a table of the items. If `ofSeveral` is true, the account column is never omitted.
  static func table(_ items: [OutboxItem], ofSeveral: Bool, at now: Timestamp = .now) -> Table {
    var table = Table(columns: [
      .init("ID"), .init("ACCOUNT", rank: ofSeveral ? 0 : 2), .init("LANE", rank: 4), .init("STATE"),
      .init("TRIES", rank: 3), .init("AGE", rank: 1), .init("NEXT TRY", isExtra: true), .init("ANSWER", isExtra: true),
      .init("REQUEST"),
    ])
    for item in items {
      let reason = item.reason.map { ": \($0.rawValue)" } ?? ""
      table.rows.append([
        item.id, "\(item.account)", item.lane?.text ?? "-", item.state.rawValue + reason,
        item.isUnreached ? "-" : "\(item.attempts)", now.since(item.createdAt).span,
        item.nextAttemptAt?.relative(to: now) ?? "-", item.lastStatus.map { "\($0)" } ?? "-",
        "\(item.method) \(item.url)",
      ])
    }
    return table
  }
}

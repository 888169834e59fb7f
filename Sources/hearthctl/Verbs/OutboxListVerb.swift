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
  @OptionGroup var choice: OutboxAccount

  @Option(help: "Only those in this state.", completion: .list(OutboxItem.State.allCases.map(\.rawValue)))
  var state: String?

  @Option(help: "Only those of this lane.")
  var lane: String?

  @Option(help: ArgumentHelp("How many items at most.", valueName: "count"))
  var limit: Int?

  @Option(help: "Continue where the list before ended.")
  var cursor: String?

  func validate() throws {
    if let limit, !(1...1000).contains(limit) { throw ValidationError("--limit must be between 1 and 1000.") }
    if let cursor, Int64(cursor) == nil {
      throw ValidationError("--cursor takes what the list before has named: \(cursor.shown()) is none.")
    }
  }

  func run() throws {
    let state: OutboxItem.State? = try state.map { try WireType.choice.value($0, as: "state") }
    var daemon = try daemonOptions.connect()
    var query = OutboxQuery(account: try choice.name(&daemon), lane: lane.map { Name($0) }, cursor: cursor)
    query.state = state
    if let limit { query.limit = limit }
    let reply = try daemon.call(ListItems(query))
    let page = reply.value
    if daemonOptions.json {
      daemonOptions.output.json(reply.json)
    } else if page.items.isEmpty {
      daemonOptions.output.line("There are no items.")
    } else {
      daemonOptions.output.line(table(page.items).text)
      if let cursor = page.cursor { Output.note("There are more: --cursor \(cursor)") }
    }
  }

  private func table(_ items: [OutboxItem]) -> Table {
    var table = Table(headings: ["ID", "ACCOUNT", "LANE", "STATE", "TRIES", "AGE", "REQUEST"])
    for item in items {
      let reason = item.reason.map { ": \($0.rawValue)" } ?? ""
      table.rows.append([
        item.id, "\(item.account)", item.lane?.text ?? "-", item.state.rawValue + reason,
        "\(item.attempts)", Timestamp.now.since(item.createdAt).span, "\(item.method) \(item.url)",
      ])
    }
    return table
  }
}

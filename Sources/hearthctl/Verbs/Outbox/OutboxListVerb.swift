import ArgumentParser
import HearthControl

struct OutboxListVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List items, oldest first.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  @Option(help: "Only those in this state.")
  var state: String?

  @Option(help: "Only those of this lane.")
  var lane: String?

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit: Int?

  @Option(help: "Go on where the list before ended.")
  var cursor: String?

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(
      .outboxList,
      JSONObject(given: [
        "account": account.map(JSON.string), "state": state.map(JSON.string), "lane": lane.map(JSON.string),
        "limit": limit.map { JSON($0) }, "cursor": cursor.map(JSON.string),
      ]))
    guard let elements = json["items"]?.array else { throw CommandFailure.notUnderstood("outbox.list") }
    let items = elements.compactMap { OutboxItemReport(json: $0) }
    if daemonOptions.json {
      daemonOptions.output.json(json)
    } else if items.isEmpty {
      daemonOptions.output.line("Nothing is there.")
    } else {
      daemonOptions.output.line(table(items).text)
      if let cursor = json["cursor"]?.string { Output.note("There are more: --cursor \(cursor)") }
    }
  }

  private func table(_ items: [OutboxItemReport]) -> Table {
    var table = Table(headings: ["ID", "ACCOUNT", "LANE", "STATE", "TRIES", "AGE", "REQUEST"])
    for item in items {
      let age = Moment(item.createdAt).map { Moment.span(Moment.now.seconds - $0.seconds) } ?? ""
      table.rows.append([
        item.id, item.account, item.lane ?? "-", item.state + (item.reason.map { ": \($0)" } ?? ""),
        "\(item.attempts)", age, "\(item.method) \(item.url)",
      ])
    }
    return table
  }
}

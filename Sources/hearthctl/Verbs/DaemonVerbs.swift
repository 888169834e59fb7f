import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct EventsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Print events, one per line, until interrupted.",
    discussion: """
      For example:

        hearthctl events work
        hearthctl events --topic outbox --json | jq --unbuffered .
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Option(help: "Only events of this topic; may be repeated.")
  var topic: [EventTopic] = []

  func run() throws {
    var daemon = try daemonOptions.connect(timeout: ControlClient.shortTimeout)
    let topics = topic.isEmpty ? EventTopic.allCases : topic
    var events = EventFollower(Subscribe(topics: Set(topics), account: try choice.name))
    var hasBegun = false
    Interruption.endProgram()
    while let step = try events.step(from: &daemon) {
      switch step {
      case .snapshot where !hasBegun: hasBegun = true
      case .snapshot:
        throw CommandFailure(
          .later, "Some events were lost, because they arrived faster than they were printed. Run the command again.")
      case .notification(let notification):
        // Print one line per event even on a terminal, because scripts read this stream.
        daemonOptions.output.line(
          daemonOptions.json ? notification.json.description : EventLine(notification).text)
      }
    }
  }
}

extension EventTopic: ExpressibleByArgument {}

struct ReloadVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Make the daemon read its configuration again.",
    discussion: """
      If the configuration contains an error, the command fails and prints the error, and the previous configuration \
      stays in use. For example:

        hearthctl reload
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(ReloadConfiguration())
    daemonOptions.output.show(reply.json) { "The daemon has loaded its configuration." }
  }
}

struct RPCVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rpc", abstract: "Call a method and print its result. With --json, an error is also printed as JSON.",
    discussion: """
      For example:

        hearthctl rpc session.get '{"account": "work"}'
        hearthctl rpc rpc.discover | jq -r '.methods[].name'
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "Name of the method, such as session.list.")
  var method: String

  @Argument(help: "Parameters as a JSON object; - reads them from standard input.")
  var params: String?

  func run() throws {
    let params = try readParams()
    var daemon = try daemonOptions.connect()
    do {
      daemonOptions.output.json(try daemon.call(method, params))
    } catch {
      if case ControlClient.Failure.refused(let rejection) = error, daemonOptions.json {
        daemonOptions.output.json(rejection.json)
      }
      throw error
    }
  }

  private func readParams() throws -> JSONObject {
    guard let params else { return [:] }
    let bytes = params == "-" ? try Input.all() : Array(params.utf8)
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      throw ValidationError("The parameters are not JSON: \(error).")
    }
    guard let object = json.object else { throw ValidationError("The parameters must be a JSON object.") }
    return object
  }
}

struct MetricsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print the daemon's metrics, by default as OpenMetrics text.",
    discussion: """
      For example:

        hearthctl metrics
        hearthctl metrics --prometheus
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Flag(help: "Use the Prometheus text format, which node_exporter's textfile collector and promtool require.")
  var prometheus = false

  func run() throws {
    var daemon = try daemonOptions.connect(timeout: ControlClient.shortTimeout)
    if daemonOptions.json {
      daemonOptions.output.json(try daemon.call(GetMetrics(.json)).json)
    } else if prometheus {
      let metrics = try daemon.call(GetMetrics(.json)).value.metrics ?? []
      daemonOptions.output.line(MetricsText.prometheus(metrics).withoutLastNewline)
    } else {
      let text = try daemon.call(GetMetrics(.openMetrics)).value.text ?? ""
      daemonOptions.output.line(text.withoutLastNewline)
    }
  }
}

extension String {
  fileprivate var withoutLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}

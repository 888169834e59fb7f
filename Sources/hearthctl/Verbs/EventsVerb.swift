import ArgumentParser
import HearthControl

struct EventsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Print what happens, one line each, until interrupted.")

  enum Topic: String, CaseIterable, ExpressibleByArgument {
    case session, outbox, daemon
  }

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "One account; all of them without.")
  var account: String?

  @Option(help: "Only this topic; may be given several times.")
  var topic: [Topic] = []

  func run() throws {
    var daemon = try daemonOptions.connect()
    _ = try daemon.call(
      .eventsSubscribe,
      JSONObject(given: [
        "account": account.map(JSON.string),
        "topics": topic.isEmpty ? nil : .array(topic.map { .string($0.rawValue) }),
      ]))
    while true {
      guard let notification = try daemon.nextNotification(within: nil) else { continue }
      if daemonOptions.json {
        // One line each also on a terminal: this is a stream.
        let json: JSON = ["method": .string(notification.method), "params": .object(notification.params)]
        daemonOptions.output.line(json.description)
      } else {
        daemonOptions.output.line(EventLine(notification).text)
      }
      if notification.method == Event.eventsClosed.rawValue {
        throw CommandFailure(.later, "Too much happened at once, and some of it is missing here: start again.")
      }
    }
  }
}

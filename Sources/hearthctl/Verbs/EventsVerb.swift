import ArgumentParser
import HearthControl
import HearthCore

struct EventsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Print what happens, one line each, until interrupted.")

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Option(help: "Only this topic; may be given several times.")
  var topic: [EventTopic] = []

  func run() throws {
    var daemon = try daemonOptions.connect()
    let topics = topic.isEmpty ? EventTopic.allCases : topic
    _ = try daemon.call(Subscribe(topics: Set(topics), account: try choice.name))
    while true {
      guard let notification = try daemon.awaitNotification(within: nil) else { continue }
      // One line each also on a terminal: this is a stream.
      daemonOptions.output.line(
        daemonOptions.json ? notification.json.description : EventLine(notification).text)
      if notification.event == .eventsClosed {
        throw CommandFailure(.later, "Too much happened at once, and some of it is missing here: start again.")
      }
    }
  }
}

extension EventTopic: ExpressibleByArgument {}

import ArgumentParser
import HearthControl

struct MetricsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print the daemon's counters, as OpenMetrics or, with --json, as JSON.")

  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.daemonGetMetrics, ["format": daemonOptions.json ? "json" : "openmetrics"])
    if daemonOptions.json {
      daemonOptions.output.json(json)
    } else {
      guard let text = json["text"]?.string else { throw CommandFailure.notUnderstood("daemon.getMetrics") }
      daemonOptions.output.bytes(Array(text.utf8))
    }
  }
}

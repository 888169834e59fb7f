import ArgumentParser
import HearthControl

struct OutboxResumeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: ResumeOutbox.summary)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  func run() throws {
    var daemon = try daemonOptions.connect()
    let reply = try daemon.call(ResumeOutbox(try choice.name))
    daemonOptions.output.show(reply.json) { "Resumed." }
  }
}

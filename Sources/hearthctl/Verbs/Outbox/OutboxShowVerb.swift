import ArgumentParser
import HearthControl

struct OutboxShowVerb: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Say all that is known of an item.")

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "The item.")
  var id: String

  func run() throws {
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.outboxGet, ["id": .string(id)])
    guard let object = json.object else { throw CommandFailure.notUnderstood("outbox.get") }
    daemonOptions.output.show(json) {
      object.members.filter { !$0.value.isNull }
        .map { $0.key.padded(to: 16) + ($0.value.string ?? $0.value.description).onOneLine }
        .joined(separator: "\n")
    }
  }
}

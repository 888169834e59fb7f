import ArgumentParser
import HearthControl
import HearthCore

/// One item, or all dead ones of an account.
struct OutboxChoice: ParsableArguments {
  @Argument(help: "The item.")
  var id: String?

  @Option(help: ArgumentHelp("All dead items of this account.", valueName: "account"))
  var dead: String?

  func validate() throws {
    guard (id == nil) != (dead == nil) else { throw ValidationError("Give an item's id or --dead ACCOUNT.") }
  }

  /// Changes what was chosen, and prints how many items that were. `done`: what became of them.
  func change<Method: ItemChangeMethod>(
    _ done: String, _ options: DaemonOptions, _ method: (ItemChoice) -> Method
  ) throws {
    var daemon = try options.connect()
    let choice: ItemChoice = if let id { .item(id) } else { .allDead(try AccountName(asked: dead ?? "")) }
    let reply = try daemon.call(method(choice))
    let count = reply.value.count
    options.output.show(reply.json) { "\(count) \(count == 1 ? "item" : "items") \(done)." }
  }
}

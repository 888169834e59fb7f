import ArgumentParser
import HearthControl

/// One item, or all dead ones of an account.
struct OutboxChoice: ParsableArguments {
  @Argument(help: "The item.")
  var id: String?

  @Option(help: ArgumentHelp("All dead items of this account.", valueName: "account"))
  var dead: String?

  func validate() throws {
    guard (id == nil) != (dead == nil) else { throw ValidationError("Give an item's id or --dead ACCOUNT.") }
  }

  var params: JSONObject {
    if let id { return ["id": .string(id)] }
    return ["account": JSON(dead), "state": "dead"]
  }

  /// Calls the method, which answers `{count}`.
  func call(_ method: Method, _ verb: String, _ options: DaemonOptions) throws {
    var daemon = try options.connect()
    let json = try daemon.call(method, params)
    guard let count = json["count"]?.int else { throw CommandFailure.notUnderstood(method.rawValue) }
    options.output.show(json) { "\(count) \(count == 1 ? "item" : "items") \(verb)." }
  }
}

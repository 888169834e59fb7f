import ArgumentParser
import HearthControl

struct OutboxAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Queue a request; prints its id once it is on disk.")

  @OptionGroup var http: HTTPOptions
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(help: "The lane in which it waits its turn.")
  var lane: String?

  @Flag(help: "Of no lane: it waits for nothing before it.")
  var unordered = false

  @Option(help: ArgumentHelp("Its Idempotency-Key; the same key and content is queued once.", valueName: "key"))
  var key: String?

  @Option(help: ArgumentHelp("It takes the place of those with the same.", valueName: "key"))
  var replaceKey: String?

  @Option(help: ArgumentHelp("Not to be sent earlier.", valueName: "time"))
  var notBefore: String?

  @Option(help: ArgumentHelp("Not to be sent later.", valueName: "time"))
  var expiresAt: String?

  func validate() throws {
    if unordered, lane != nil { throw ValidationError("--unordered is of no lane.") }
  }

  func run() throws {
    var params = try http.params()
    if let lane { params["lane"] = .string(lane) }
    if unordered { params["unordered"] = true }
    if let key { params["idempotencyKey"] = .string(key) }
    if let replaceKey { params["replaceKey"] = .string(replaceKey) }
    if let notBefore { params["notBefore"] = .string(notBefore) }
    if let expiresAt { params["expiresAt"] = .string(expiresAt) }
    var daemon = try daemonOptions.connect()
    let json = try daemon.call(.outboxEnqueue, params)
    guard let id = json["id"]?.string else { throw CommandFailure.notUnderstood("outbox.enqueue") }
    daemonOptions.output.show(json) { id }
  }
}

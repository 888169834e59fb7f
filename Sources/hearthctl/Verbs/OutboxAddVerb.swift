import ArgumentParser
import HearthControl
import HearthCore

struct OutboxAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Queue a request; prints its id once it is on disk.")

  @OptionGroup var content: RequestContent
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(help: "The lane in which it waits its turn.")
  var lane: String?

  @Flag(help: "In no lane: it waits for no other item.")
  var unordered = false

  @Option(help: ArgumentHelp("Its Idempotency-Key; the same key and content is queued once.", valueName: "key"))
  var key: String?

  @Option(help: ArgumentHelp("It replaces the waiting items with the same key.", valueName: "key"))
  var replaceKey: String?

  @Option(help: ArgumentHelp("Not to be sent earlier.", valueName: "time"))
  var notBefore: String?

  @Option(help: ArgumentHelp("Not to be sent later.", valueName: "time"))
  var expiresAt: String?

  @Option(help: ArgumentHelp("json: an answer in HTML is not the API's, and the item waits.", valueName: "content"))
  var expect: String?

  func validate() throws {
    if unordered, lane != nil {
      throw ValidationError("--unordered and --lane exclude each other: an unordered item waits in no lane. Give one.")
    }
  }

  func run() throws {
    let headers = try content.headers()
    let body = try content.body()
    var daemon = try daemonOptions.connect()
    var draft = OutboxDraft(
      account: try AccountName(asked: content.account), method: content.method, url: content.url, headers: headers,
      body: body,
      isUnordered: unordered, idempotencyKey: key, replaceKey: replaceKey,
      notBefore: try notBefore.map { try WireType.time.value($0, as: "notBefore") },
      expiresAt: try expiresAt.map { try WireType.time.value($0, as: "expiresAt") },
      expect: try expect.map { try WireType<ExpectedContent>.choice.value($0, as: "expect") })
    if let lane { draft.lane = lane }
    let reply = try daemon.call(Enqueue(draft))
    daemonOptions.output.show(reply.json) { reply.value.id }
  }
}

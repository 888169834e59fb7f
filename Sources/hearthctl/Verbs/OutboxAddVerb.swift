import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct OutboxAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Queue a request, and print the item's ID once it is on disk.",
    discussion: """
      For example:

        hearthctl outbox add work POST https://api.example.com/notes \\
          --data 'written on a train'
        hearthctl outbox add work PUT https://api.example.com/mood \\
          --data @mood.json -H 'Content-Type: application/json' \\
          --replace-key mood --expires-at 2030-01-01T00:00:00Z
      """)

  @OptionGroup var request: RequestOptions
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(help: "Lane of the item. The items of a lane are sent in order.")
  var lane: String?

  @Flag(help: "Deliver outside any lane, without waiting for other items.")
  var unordered = false

  @Option(help: ArgumentHelp("Idempotency key. Hearth queues a request with this key only once.", valueName: "key"))
  var key: String?

  @Option(help: ArgumentHelp("Replacement key. Replaces older undelivered items with the same key.", valueName: "key"))
  var replaceKey: String?

  @Option(help: ArgumentHelp("Earliest time to send the item (RFC 3339).", valueName: "time"))
  var notBefore: String?

  @Option(help: ArgumentHelp("Latest time to send the item (RFC 3339).", valueName: "time"))
  var expiresAt: String?

  @Option(
    help: ArgumentHelp(
      "Expected content. With json, an HTML response does not count as delivery.", valueName: "content"),
    completion: .list(ExpectedContent.allCases.map(\.rawValue)))
  var expect: String?

  func validate() throws {
    if unordered, lane != nil {
      throw ValidationError("--unordered cannot be combined with --lane, because an unordered item has no lane.")
    }
    try request.check()
  }

  func run() throws {
    let (account, method, url) = request.target
    let notBefore = try notBefore.map { try WireType.time.value($0, as: "--not-before") }
    let expiresAt = try expiresAt.map { try WireType.time.value($0, as: "--expires-at") }
    let expect = try expect.map { try WireType<ExpectedContent>.choice.value($0, as: "--expect") }
    let (headers, body) = (try request.headers(), try request.body())
    var client = try daemonOptions.connect()
    var draft = OutboxDraft(
      account: try DefaultAccount.name(account, for: url, &client), method: method, url: url, headers: headers,
      body: body, isUnordered: unordered, idempotencyKey: key, replaceKey: replaceKey.map { Name($0) },
      notBefore: notBefore, expiresAt: expiresAt, expect: expect)
    if let lane { draft.lane = Name(lane) }
    let reply = try client.call(Enqueue(draft))
    daemonOptions.output.show(reply.json) { reply.value.id }
  }
}

import ArgumentParser
import HearthCore

struct OutboxAddVerb: CallVerb {
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

  var call: OutboxAddCall {
    OutboxAddCall(
      content: request.content, lane: lane, unordered: unordered, key: key, replaceKey: replaceKey,
      notBefore: notBefore, expiresAt: expiresAt, expect: expect, daemon: daemonOptions.choice)
  }
}

import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// The real program's outbox verbs against canned answers.
@Suite(.timeLimit(.minutes(1))) struct OutboxVerbTests {
  private let folder = TemporaryFolder()

  private func run(
    _ arguments: [String], input: String = "", answer: @escaping @Sendable (Request) -> FakeDaemon.Answer
  ) async throws -> (Program.Outcome, [Request]) {
    let daemon = FakeDaemon(answer: answer)
    let outcome = try await Program.run(arguments, input: input, environment: ["HEARTH_SOCKET": daemon.path])
    return (outcome, daemon.asked)
  }

  @Test("outbox add sends text as it is and other bytes as Base64, and prints the id")
  func outboxAdd() async throws {
    let (outcome, asked) = try await run(
      [
        "outbox", "add", "work", "POST", "https://api.example.com/a", "--data", "-", "-H", "A: 1", "-H", "B:  x:y ",
        "-H", "A: 2", "--lane", "l", "--key", "k",
      ], input: "{\"é\":1}"
    ) { _ in .result(["id": "item-1", "state": "pending", "duplicate": false]) }
    #expect(outcome.output == "item-1\n")
    #expect(
      asked[0].params == [
        "account": "work", "method": "POST", "url": "https://api.example.com/a",
        "headers": ["A": ["1", "2"], "B": "x:y"], "body": "{\"é\":1}", "lane": "l", "idempotencyKey": "k",
      ])
    let file = folder.file("bytes")
    let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
    #expect(write(descriptor, [0xFF, 0x00] as [UInt8], 2) == 2)
    close(descriptor)
    let (_, again) = try await run(["outbox", "add", "work", "POST", "https://x", "-d", "@\(file)"]) { _ in
      .result(["id": "item-2", "state": "pending", "duplicate": false])
    }
    #expect(again[0].params["bodyBase64"] == "/wA=")
  }

  @Test("outbox add reads the body from standard input for @-, as curl does")
  func bodyFromInput() async throws {
    let (_, asked) = try await run(["outbox", "add", "work", "POST", "https://x", "-d", "@-"], input: "body") { _ in
      .result(["id": "item-1", "state": "pending", "duplicate": false])
    }
    #expect(asked.first?.params["body"] == "body")
  }

  @Test("outbox add takes headers from a file or standard input, and shows none of what is in there")
  func headersFromFile() async throws {
    let file = folder.file("headers")
    try Files.write("A: 1\r\n\n B:  x:y\nA: 2", to: file)
    let verb = ["outbox", "add", "work", "POST", "https://x"]
    let queued: @Sendable (Request) -> FakeDaemon.Answer = { _ in
      .result(["id": "item-1", "state": "pending", "duplicate": false])
    }
    let (_, asked) = try await run(verb + ["-H", "C: 3", "-H", "@\(file)", "-d", "-"], input: "body", answer: queued)
    #expect(asked.first?.params["headers"] == ["C": "3", "A": ["1", "2"], "B": "x:y"])
    #expect(asked.first?.params["body"] == "body")
    let (_, piped) = try await run(verb + ["-H", "@-"], input: "X-Key: s3cret\n", answer: queued)
    #expect(piped.first?.params["headers"] == ["X-Key": "s3cret"])
    for (options, input, told) in [
      (["-H", "@-", "-d", "-"], "X: 1", "Standard input can be read only once"),
      (["-H", "@-", "-d", "@-"], "X: 1", "Standard input can be read only once"),
      (["-H", "@-", "-H", "@-"], "X: 1", "Standard input can be read only once"),
      (["-H", "@-"], "X: 1\ns3cret", "Line 2 of standard input is not a header. It must have the form 'Name: value'."),
    ] {
      let (refused, nothing) = try await run(verb + options, input: input, answer: queued)
      #expect(refused.status == 64 && refused.errors.contains(told))
      #expect(!refused.errors.contains("s3cret") && nothing.isEmpty)
    }
    let (missing, _) = try await run(verb + ["-H", "@\(folder.file("none"))"], answer: queued)
    #expect(missing.status == 1 && missing.errors.contains("cannot be read: No such file or directory."))
  }

  @Test(
    "A value that cannot be meant is wrong usage, and no daemon is asked",
    arguments: [
      "list --limit 0", "list --limit 1001", "list --state foo", "list --cursor foo", "export --state foo",
      "export --state delivered", "add work PO/ST https://x", "add work POST https://x --not-before tomorrow",
      "add work POST https://x --expires-at never", "add work POST https://x --expect xml",
    ])
  func wrongUsage(_ line: String) async throws {
    let words = line.split(separator: " ").map { String($0).replacing("/S", with: " S") }
    let (outcome, asked) = try await run(["outbox"] + words) { _ in .result([:]) }
    #expect(outcome.status == 64 && !outcome.errors.isEmpty && outcome.output.isEmpty)
    #expect(asked.isEmpty)
  }

  @Test("outbox import says that a directory is one, and reads nothing")
  func importDirectory() async throws {
    let (outcome, asked) = try await run(["outbox", "import", folder.path]) { _ in .result([:]) }
    #expect(outcome.status == 1 && asked.isEmpty)
    #expect(outcome.errors == "hearthctl: \(folder.path) is a folder, not a file.\n")
  }

  @Test("outbox list is a table for people")
  func outboxList() async throws {
    let (outcome, asked) = try await run(["outbox", "list", "work", "--state", "waiting"]) { _ in
      .result(["items": [Samples.item.json], "cursor": "c"])
    }
    #expect(asked[0].params == ["account": "work", "state": "waiting"])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("ID      ACCOUNT  LANE     STATE"))
    #expect(lines[1].hasPrefix("item-1  work     default  waiting"))
    #expect(outcome.errors.contains("--cursor c"))
  }

  @Test("outbox show puts on one line what a server said, and lets none of it act on the terminal")
  func outboxShow() async throws {
    let said = "422: \u{1B}]0;title\u{07}a\nstate  delivered\u{202E}b"
    var item = Samples.item
    (item.state, item.reason, item.lastStatus, item.lastError) = (.dead, .rejected, 422, said)
    let json = item.json
    let (outcome, asked) = try await run(["outbox", "show", "item-1"]) { _ in .result(json) }
    #expect(asked == [Request(id: 1, method: "outbox.get", params: ["id": "item-1"])])
    #expect(
      outcome.output == """
        id              item-1
        account         work
        lane            default
        method          POST
        url             https://api.example.com/a
        state           dead
        reason          rejected
        attempts        2
        createdAt       2026-11-21T10:00:00.000Z
        lastStatus      422
        lastError       422: \\u{1B}]0;title\\u{7}a\\u{A}state  delivered\\u{202E}b
        idempotencyKey  k
        bytes           12

        """)
  }

  @Test("attempts that did not reach the API are not counted, and no bare 0 is shown next to an error")
  func unreached() async throws {
    let json = Samples.unreached.json
    let (shown, _) = try await run(["outbox", "show", "item-1"]) { _ in .result(json) }
    #expect(shown.output.contains("\nattempts        0 (only attempts that reach the API count)\n"))
    let (raw, _) = try await run(["outbox", "show", "item-1", "--json"]) { _ in .result(json) }
    #expect(raw.output == "\(json)\n")
    let (list, _) = try await run(["outbox", "list"]) { _ in .result(["items": [json], "cursor": nil]) }
    #expect(list.output.contains("  waiting  -      "))
  }

  @Test("outbox retry and cancel take one item or all dead ones")
  func outboxChoice() async throws {
    let (one, first) = try await run(["outbox", "retry", "i"]) { _ in .result(["count": 1]) }
    #expect(one.output == "1 item queued again.\n")
    #expect(first[0] == Request(id: 1, method: "outbox.retry", params: ["id": "i"]))
    let (all, second) = try await run(["outbox", "cancel", "--dead", "work"]) { _ in .result(["count": 2]) }
    #expect(all.output == "2 items cancelled.\n")
    #expect(second[0] == Request(id: 1, method: "outbox.cancel", params: ["account": "work", "state": "dead"]))
  }

  @Test("outbox flush exits 5 where something is left")
  func flush() async throws {
    let (left, _) = try await run(["outbox", "flush"]) { request in
      request.method == "session.list"
        ? .result(["sessions": [Samples.session().json]]) : .result(Samples.stats(waiting: 1).json)
    }
    #expect(left.status == 5)
    #expect(left.errors == "hearthctl: 1 item was not sent, because the next attempt is not due yet.\n")
    let (late, _) = try await run(["outbox", "flush", "--timeout", "0"]) { request in
      request.method == "session.list" ? .result(["sessions": []]) : .result(Samples.stats(pending: 1).json)
    }
    #expect(late.errors == "hearthctl: 1 item was not sent, because the time limit was reached.\n")
    let (done, asked) = try await run(["outbox", "flush", "work", "--timeout", "3"]) { _ in
      .result(Samples.stats(held: 1).json)
    }
    #expect(done.status == 0)
    #expect(asked[0].params == ["account": "work", "timeoutSeconds": 3])
  }

  @Test("outbox flush says which outboxes are paused, and why", arguments: [["work"], []])
  func flushPaused(account: [String]) async throws {
    let (outcome, _) = try await run(["outbox", "flush"] + account) { request in
      switch (request.method, request.params["account"]?.string) {
      case ("session.list", _): .result(["sessions": [Samples.session().json, Samples.signedOut.json]])
      case ("outbox.getStats", "home"), ("outbox.flush", nil): .result(Samples.stats(pending: 1).json)
      default: .result(Samples.stats(pending: 1, pausedReason: "signedOut").json)
      }
    }
    #expect(outcome.status == 5)
    #expect(
      outcome.errors == "hearthctl: 1 item was not sent, because the outbox of work is paused (signedOut).\n")
  }
}

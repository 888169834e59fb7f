import Glibc
import HearthControl
import TestSupport
import Testing

@testable import hearthctl

/// The real program against canned answers.
@Suite(.timeLimit(.minutes(1))) struct VerbTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("rpc.sock") }

  private func run(
    _ arguments: [String], input: String = "", answer: @escaping @Sendable (Request) -> FakeDaemon.Answer
  ) async throws -> (Program.Outcome, [Request]) {
    let daemon = FakeDaemon(path: path, answer: answer)
    let outcome = try await Program.run(arguments, input: input, environment: ["HEARTH_SOCKET": path])
    return (outcome, daemon.asked)
  }

  @Test("without a daemon every verb says so in one sentence and exits 6")
  func noDaemon() async throws {
    let verbs = [
      ["status"], ["status", "work"], ["status", "--watch"], ["login", "work", "--device"], ["logout", "work"],
      ["token", "work"], ["refresh", "work"], ["lock"], ["unlock"], ["outbox", "add", "work", "POST", "https://x"],
      ["outbox", "list"], ["outbox", "show", "1"], ["outbox", "retry", "1"], ["outbox", "cancel", "1"],
      ["outbox", "pause"], ["outbox", "resume"], ["outbox", "flush"], ["outbox", "stats"],
      ["request", "work", "GET", "https://x"], ["events"], ["metrics"], ["rpc", "session.list"],
    ]
    for verb in verbs {
      let outcome = try await Program.run(verb + ["--json", "--socket", path])
      #expect(outcome.status == 6, "\(verb)")
      #expect(outcome.output == "", "\(verb)")
      #expect(
        outcome.errors
          == "hearthctl: No daemon answers on \(path): start it with \"systemctl --user start hearthd\".\n")
    }
  }

  @Test("without a way to the socket it says what to set")
  func noPath() async throws {
    let outcome = try await Program.run(["status"])
    #expect(outcome.status == 6)
    #expect(outcome.errors.contains("XDG_RUNTIME_DIR"))
  }

  @Test(
    "wrong usage exits 64",
    arguments: [
      ["bogus"], ["status", "--bogus"], ["token"], ["token", "work", "--min-valid", "x"],
      ["token", "work", "--min-valid", "-1"], ["login", "work", "--device", "--browser"], ["outbox", "retry"],
      ["outbox", "retry", "1", "--dead", "work"], ["outbox", "add", "work", "POST"],
      ["outbox", "add", "work", "POST", "https://x", "-H", "nonsense"], ["rpc", "m", "[1]"], ["rpc", "m", "{"],
      ["login", "work", "--refresh-token-stdin"], ["status", "--socket", String(repeating: "x", count: 108)],
    ])
  func usage(arguments: [String]) async throws {
    let (outcome, _) = try await run(arguments) { _ in .result(nil) }
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors != "")
  }

  @Test("help and version exit 0")
  func help() async throws {
    #expect(try await Program.run(["--version"]).output == "hearthctl \(HearthVersion.text)\n")
    #expect(try await Program.run(["outbox", "add", "--help"]).status == 0)
  }

  @Test("status prints a block for each account and exits with the worst")
  func status() async throws {
    let (outcome, asked) = try await run(["status"]) { request in
      request.method == "session.list"
        ? .result(["sessions": [Samples.session().json, Samples.signedOut.json]])
        : .result(OutboxStatsReport(dead: 1).json)
    }
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("work  authenticated\n"))
    #expect(outcome.output.contains("\n\nhome  unauthenticated (neverSignedIn)\n"))
    #expect(outcome.output.contains("outbox    1 dead"))
    #expect(!outcome.output.contains("\u{1B}"))
    #expect(outcome.errors == "")
    #expect(asked.map(\.method) == ["session.list", "outbox.getStats", "outbox.getStats"])
  }

  @Test("status of one account as JSON is its SessionStatus in one line")
  func statusJSON() async throws {
    let (outcome, asked) = try await run(["status", "work", "--json"]) { _ in .result(Samples.locked.json) }
    #expect(outcome.status == 4)
    #expect(outcome.output == Samples.locked.json.description + "\n")
    #expect(asked == [Request(id: 1, method: "session.get", params: ["account": "work"])])
  }

  @Test("status --watch prints at once and after each change, until the daemon stops")
  func watch() async throws {
    let (outcome, asked) = try await run(["status", "--watch", "--json"]) { request in
      request.method == "events.subscribe"
        ? .result(["subscription": "s"])
        : .stream(
          ["sessions": [Samples.session().json]], [Notification(.sessionChanged, params: [:])])
    }
    // The second report finds the connection closed.
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(asked.prefix(2).map(\.method) == ["events.subscribe", "session.list"])
    #expect(outcome.status == 6 || outcome.status == 5)
  }

  @Test("token prints the token alone; with --header as a header")
  func token() async throws {
    let answer: @Sendable (Request) -> FakeDaemon.Answer = { _ in
      .result(["account": "work", "accessToken": "secret", "tokenType": "Bearer"])
    }
    let (plain, asked) = try await run(["token", "work", "--min-valid", "90"], answer: answer)
    #expect(plain.output == "secret\n")
    #expect(plain.errors == "")
    #expect(plain.status == 0)
    #expect(asked[0].params == ["account": "work", "minValiditySeconds": 90])
    unlink(path)
    let (header, _) = try await run(["token", "work", "--header"], answer: answer)
    #expect(header.output == "Authorization: Bearer secret\n")
  }

  @Test("an error is one sentence on stderr, nothing on stdout, and its exit status")
  func errors() async throws {
    let (outcome, _) = try await run(["token", "work"]) { _ in
      .error(.refreshUnavailable(account: "work", message: "The provider cannot be reached.", retryAfterSeconds: 5))
    }
    #expect(outcome.status == 5)
    #expect(outcome.output == "")
    #expect(outcome.errors == "hearthctl: The provider cannot be reached.\n")
  }

  @Test("login --refresh-token-stdin imports what stands on standard input, without white space")
  func importToken() async throws {
    let (outcome, asked) = try await run(["login", "work", "--refresh-token-stdin", "--replace"], input: " r-1\n") {
      _ in
      .result(Samples.session().json)
    }
    #expect(outcome.status == 0)
    #expect(outcome.output == "Signed in.\n")
    #expect(asked[0].method == "session.import")
    #expect(asked[0].params == ["account": "work", "refreshToken": "r-1", "replace": true])
  }

  @Test("login goes on to the browser where the device flow is not supported, and waits")
  func login() async throws {
    let (outcome, asked) = try await run(["login", "work"]) { request in
      switch request.params["flow"]?.string {
      case "device": .error(.flowNotSupported(account: "work", message: "No device flow."))
      case "browser": .result(["signIn": "s1", "authorizationUrl": "https://id.example.com/auth", "expiresAt": "x"])
      default: .result(Samples.session().json)
      }
    }
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("https://id.example.com/auth"))
    #expect(outcome.output == "Signed in.\n")
    #expect(asked.last == Request(id: 3, method: "session.awaitSignIn", params: ["signIn": "s1"]))
  }

  @Test("login by password reads it from standard input and asks nothing there")
  func password() async throws {
    let (outcome, asked) = try await run(["login", "work", "--password", "--username", "me"], input: "p w\n") {
      request in
      request.method == "session.beginSignIn" ? .result(["signIn": "s1"]) : .result(Samples.session().json)
    }
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(asked[0].params["username"] == "me")
    #expect(asked[0].params["password"] == "p w")
  }

  @Test("unlock does not ask where standard input is no terminal")
  func unlockUnasked() async throws {
    let (outcome, asked) = try await run(["unlock", "work"], input: "p\n") { _ in
      .error(.passphraseNeeded(account: "work", message: "A passphrase is needed."))
    }
    #expect(outcome.status == 4)
    #expect(outcome.errors == "hearthctl: A passphrase is needed.\n")
    #expect(asked.count == 1)
  }

  @Test("unlock --passphrase-stdin sends the line on standard input")
  func unlockByInput() async throws {
    let (outcome, asked) = try await run(["unlock", "work", "--passphrase-stdin"], input: "a b \n") { _ in
      .result(["sessions": [Samples.session().json]])
    }
    #expect(outcome.status == 0)
    #expect(outcome.output == "work: Signed in.\n")
    #expect(asked[0].params == ["account": "work", "passphrase": "a b "])
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
    unlink(path)
    let (_, again) = try await run(["outbox", "add", "work", "POST", "https://x", "-d", "@\(file)"]) { _ in
      .result(["id": "item-2"])
    }
    #expect(again[0].params["bodyBase64"] == "/wA=")
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

  @Test("outbox retry and cancel take one item or all dead ones")
  func outboxChoice() async throws {
    let (one, first) = try await run(["outbox", "retry", "i"]) { _ in .result(["count": 1]) }
    #expect(one.output == "1 item put back.\n")
    #expect(first[0] == Request(id: 1, method: "outbox.retry", params: ["id": "i"]))
    unlink(path)
    let (all, second) = try await run(["outbox", "cancel", "--dead", "work"]) { _ in .result(["count": 2]) }
    #expect(all.output == "2 items cancelled.\n")
    #expect(second[0] == Request(id: 1, method: "outbox.cancel", params: ["account": "work", "state": "dead"]))
  }

  @Test("outbox flush exits 5 where something is left")
  func flush() async throws {
    let (left, _) = try await run(["outbox", "flush"]) { _ in .result(OutboxStatsReport(waiting: 1).json) }
    #expect(left.status == 5)
    #expect(left.errors == "hearthctl: 1 item is left to send: time is up.\n")
    unlink(path)
    let (done, asked) = try await run(["outbox", "flush", "work", "--timeout", "3"]) { _ in
      .result(OutboxStatsReport(held: 1).json)
    }
    #expect(done.status == 0)
    #expect(asked[0].params == ["account": "work", "timeoutSeconds": 3])
  }

  @Test("request prints the body alone, and fails from 400 on")
  func request() async throws {
    let (good, _) = try await run(["request", "work", "GET", "https://x"]) { _ in
      .result(["status": 200, "headers": ["A": "1"], "bodyBase64": "YWJj", "fromCache": false, "ageSeconds": nil])
    }
    #expect(good.output == "abc")
    #expect(good.status == 0)
    unlink(path)
    let (bad, _) = try await run(["request", "work", "GET", "https://x", "-i"]) { _ in
      .result(["status": 404, "headers": ["A": "1", "B": ["2", "3"]], "body": "no"])
    }
    #expect(bad.output == "404\nA: 1\nB: 2\nB: 3\n\nno")
    #expect(bad.errors == "hearthctl: The server answered 404.\n")
    #expect(bad.status == 1)
  }

  @Test("events prints a line for each, and says when it fell behind")
  func events() async throws {
    let notifications = [
      Notification(.daemonReloaded, params: ["seq": 1]), Notification(.eventsClosed, params: ["reason": "lagged"]),
    ]
    let (outcome, asked) = try await run(["events", "work", "--topic", "daemon", "--json"]) { _ in
      .stream(["subscription": "s"], notifications)
    }
    #expect(outcome.status == 5)
    #expect(
      outcome.output == #"{"method":"daemon.reloaded","params":{"seq":1}}"# + "\n"
        + #"{"method":"events.closed","params":{"reason":"lagged"}}"# + "\n")
    #expect(asked[0].params == ["account": "work", "topics": ["daemon"]])
  }

  @Test("events ends when the daemon stops")
  func eventsEnd() async throws {
    let (outcome, _) = try await run(["events"]) { _ in .stream([:], []) }
    #expect(outcome.status == 6)
    #expect(outcome.errors == "hearthctl: The daemon has stopped.\n")
  }

  @Test("rpc calls any method with an object, from standard input too, and prints the result")
  func rpc() async throws {
    let (outcome, asked) = try await run(["rpc", "a.b", "-"], input: #"{"x":1.0}"#) { _ in .result(["y": [1]]) }
    #expect(outcome.output == "{\"y\":[1]}\n")
    #expect(asked[0].method == "a.b")
    #expect(asked[0].params["x"]?.description == "1.0")
  }

  @Test("metrics are OpenMetrics for people and JSON where it was asked for")
  func metrics() async throws {
    let (outcome, asked) = try await run(["metrics"]) { _ in .result(["text": "# EOF\n"]) }
    #expect(outcome.output == "# EOF\n")
    #expect(asked[0].params == ["format": "openmetrics"])
  }

  @Test("lock, logout and refresh say what the session says")
  func messages() async throws {
    let (lock, _) = try await run(["lock"]) { _ in .result(["sessions": [Samples.locked.json]]) }
    #expect(lock.status == 0)
    #expect(lock.output == "work: Locked. Run \"hearthctl unlock work\".\n")
    unlink(path)
    let (logout, asked) = try await run(["logout", "home", "--discard-outbox"]) { _ in .result(Samples.signedOut.json) }
    #expect(logout.status == 0)
    #expect(asked[0].params == ["account": "home", "revoke": true, "outbox": "discard"])
    unlink(path)
    let (refresh, _) = try await run(["refresh", "work"]) { _ in .result(Samples.session().json) }
    #expect(refresh.output == "Refreshed. The new token lasts 51 min.\n")
  }

  @Test("doctor tells what it looked at, and exits with what is worst")
  func doctor() async throws {
    let daemon = FakeDaemon(path: path) { request in
      switch Method(rawValue: request.method) {
      case .daemonGetInfo:
        .result(["name": "hearthd", "version": .string(HearthVersion.text), "protocol": 1, "pid": 7])
      case .sessionList: .result(["sessions": [Samples.session().json, Samples.locked.json]])
      default: .result(OutboxStatsReport(dead: 2).json)
      }
    }
    let outcome = try await Program.run(
      ["doctor"], environment: ["HEARTH_SOCKET": daemon.path, "HEARTH_STATE_DIR": folder.path, "HOME": folder.path])
    #expect(outcome.status == 4)
    #expect(outcome.output.contains("ok       daemon         hearthd \(HearthVersion.text), process 7\n"))
    #expect(outcome.output.contains("ok       state          \(folder.path)\n"))
    #expect(outcome.output.contains("warning  outbox         work: 2 dead, 0 held"))
    #expect(outcome.output.contains("problem  session        work: Locked."))
    let without = try await Program.run(
      ["doctor", "--json"], environment: ["HEARTH_SOCKET": folder.file("none"), "HOME": folder.path])
    #expect(without.status == 6)
    #expect(try JSON(parsing: without.output)["checks"]?.array?.isEmpty == false)
  }
}

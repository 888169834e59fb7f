import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

extension VerbTests {
  @Test("status prints a block for each account and exits with the worst")
  func status() async throws {
    let (outcome, asked) = try await run(["status"]) { request in
      request.method == "session.list"
        ? .result(["sessions": [Samples.session().json, Samples.signedOut.json]])
        : .result(Samples.stats(dead: 1).json)
    }
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("work  signed in\n"))
    #expect(outcome.output.contains("\n\nhome  sign-in needed\n"))
    #expect(outcome.output.hasPrefix("2 accounts: 1 signed in, 1 sign-in needed\n\n"))
    #expect(outcome.output.contains("outbox    1 dead. Run \"hearthctl outbox list work --state dead\"."))
    #expect(!outcome.output.contains("\u{1B}"))
    #expect(outcome.errors == "")
    #expect(asked.map(\.method) == ["session.list", "outbox.getStats", "outbox.getStats", "daemon.getInfo"])
  }

  @Test("status looks for the reason why items wait, and shows the first one")
  func waiting() async throws {
    var later = Samples.unreached
    (later.id, later.lastError) = ("item-0", nil)
    let items: JSON = .array([later.json, Samples.unreached.json])
    let (outcome, asked) = try await run(["status"]) { request in
      switch request.method {
      case "session.list": .result(["sessions": [Samples.session().json]])
      case "outbox.list": .result(["items": items, "cursor": nil])
      default: .result(Samples.stats(waiting: 2).json)
      }
    }
    #expect(
      outcome.output.contains(
        "\n  delivery  No connection to https://api.example.com: Connection refused, next try now\n"))
    #expect(
      asked.first { $0.method == "outbox.list" }?.params == ["account": "work", "state": "waiting", "limit": 20])
  }

  /// A daemon with one session, its outbox, and what is wrong around it.
  private func daemon(
    _ session: SessionStatus, _ stats: OutboxStats = Samples.stats(), warnings: [String]? = nil
  ) -> @Sendable (Request) -> FakeDaemon.Answer {
    { request in
      switch request.method {
      case GetSession.name: .result(session.json)
      case ListSessions.name: .result(["sessions": [session.json]])
      case GetOutboxStats.name: .result(stats.json)
      case GetInfo.name:
        .result(DaemonInfo(pid: 1, startedAt: Samples.start, paths: [], warnings: warnings).json)
      default: .hangUp
      }
    }
  }

  @Test("status of one account as JSON is its SessionStatus in one line, with its outbox and the warnings")
  func statusJSON() async throws {
    let warning = "The configuration was refused."
    let (outcome, asked) = try await run(
      ["status", "work", "--json"], answer: daemon(Samples.locked, Samples.stats(dead: 1), warnings: [warning]))
    #expect(outcome.status == 4)
    var expected = try #require(Samples.locked.json.object)
    expected["outbox"] = Samples.stats(dead: 1).json
    expected["warnings"] = [.string(warning)]
    #expect(outcome.output == JSON.object(expected).description + "\n")
    #expect(asked.first == Request(id: 1, method: "session.get", params: ["account": "work"]))
  }

  @Test("a refused configuration and dead items fail only a status that is asked to be strict")
  func strict() async throws {
    let warning = "The configuration was refused. Fix it."
    for (stats, warnings, complaint) in [
      (Samples.stats(), [warning], warning),
      (
        Samples.stats(dead: 2), nil,
        "work has 2 dead and 0 held items. Run \"hearthctl outbox list work --state dead\"."
      ),
    ] as [(OutboxStats, [String]?, String)] {
      let answer = daemon(Samples.session(), stats, warnings: warnings)
      let (usual, _) = try await run(["status"], answer: answer)
      #expect(usual.status == 0 && usual.errors == "")
      let (strict, _) = try await run(["status", "--strict"], answer: answer)
      #expect(strict.status == 1 && strict.errors == "hearthctl: \(complaint)\n")
    }
    let (fine, _) = try await run(["status", "--strict"], answer: daemon(Samples.session()))
    #expect(fine.status == 0)
  }

  @Test("status --log shows the last lines of the journal that are about the account")
  func statusLog() async throws {
    let journalctl = folder.file("journalctl")
    let script = "#!/bin/sh\necho \"$*\" | grep -q -- '--lines=10 .*HEARTH_ACCOUNT=work' && echo 'work is signed in.'\n"
    try Files.write(script, to: journalctl)
    chmod(journalctl, 0o700)
    let daemon = FakeDaemon(answer: daemon(Samples.session()))
    defer { withExtendedLifetime(daemon) {} }
    let outcome = try await Program.run(
      ["status", "work", "--log"],
      environment: ["HEARTH_SOCKET": daemon.path, "PATH": "\(folder.path):/usr/bin:/bin"])
    #expect(outcome.status == 0)
    #expect(outcome.output.hasSuffix("\n\nLog\n  work is signed in.\n"))
  }

  @Test("status --watch prints at once and after each change, until the daemon stops")
  func watch() async throws {
    let (outcome, asked) = try await run(["status", "--watch", "--json"]) { request in
      switch request.method {
      case Subscribe.name: .result(Samples.subscription)
      case ListSessions.name: .result(["sessions": [Samples.session().json]])
      case GetOutboxStats.name: .result(Samples.stats().json)
      default:
        .stream(
          DaemonInfo(pid: 1, startedAt: Samples.start, paths: []).json, [Notification(.sessionChanged, params: [:])])
      }
    }
    // The second report finds the connection closed.
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(asked.prefix(2).map(\.method) == ["events.subscribe", "session.list"])
    #expect(outcome.status == 6 || outcome.status == 5)
  }
}

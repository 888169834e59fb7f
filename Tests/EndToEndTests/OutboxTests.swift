import GRDB
import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("What was written is delivered", .serialized, .mayBlock) struct OutboxTests {
  @Test("an API has request_timeout for its answer, and no more")
  func requestTimeout() async throws {
    try await TestEnvironment.session("[refresh]\nrequest_timeout = \"1s\"\n") { _, sandbox, daemon in
      try sandbox.fault(["path": "/api", "hang": true, "times": 1])
      let item = try daemon.waitForItem(try daemon.enqueue("note", to: sandbox.notes), "waiting")
      #expect(item.lastError?.contains("within 1.0 seconds") == true, "\(item.lastError ?? "")")
    }
  }

  @Test("written offline, it is delivered in order, once each, when the API is back, through a restart")
  func offline() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.stop()
      let bodies = (1...6).map { "note \($0)" }
      for body in bodies.prefix(4) { try daemon.enqueue(body, to: sandbox.notes) }
      try daemon.restart()
      for body in bodies.dropFirst(4) { try daemon.enqueue(body, to: sandbox.notes) }
      let stats = try daemon.outboxStats()
      #expect(stats.pending + stats.waiting + stats.inFlight == 6 && stats.delivered == 0)
      try sandbox.start()
      try sandbox.waitUntilWritten(bodies)
      try eventually("all count as delivered") { try daemon.outboxStats().delivered == 6 }
      let items = try daemon.call("outbox.list", ["account": "work"])["items"]?.array ?? []
      #expect(items.allSatisfy { $0["state"] == "delivered" && $0["subject"] == "2482" })
      let keys = try sandbox.effects.map { $0["key"]?.string }
      #expect(Set(keys).count == 6 && !keys.contains(nil))
    }
  }

  @Test("an API that answers 401 once costs one refresh, and the items are delivered")
  func unauthorizedOnce() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.expire()
      try sandbox.forgetStats()
      for body in ["one", "two", "three"] { try daemon.enqueue(body, to: sandbox.notes, ["unordered": true]) }
      try eventually("all are delivered") { try daemon.outboxStats().delivered == 3 }
      #expect(try sandbox.count("tokenCalls") == 1)
      #expect(try Set(sandbox.written) == ["one", "two", "three"])
    }
  }

  @Test("an API that answers 401 for ever ends the session; the outbox pauses, keeps all, and goes on after sign-in")
  func unauthorizedForEver() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api", "status": 401])
      let first = try daemon.enqueue("one", to: sandbox.notes)
      try daemon.enqueue("two", to: sandbox.notes)
      try daemon.waitFor("reauthRequired", "rejectedByServer")
      let stats = try eventually("the outbox is paused") {
        let stats = try daemon.outboxStats()
        return stats.isPaused && stats.pending == 2 ? stats : nil
      }
      #expect(stats.pausedReason != nil && stats.dead == 0)
      #expect(try daemon.item(first).attempts == 0, "no attempt is charged")
      try daemon.enqueue("three", to: sandbox.notes)
      try daemon.restart()
      try sandbox.clearFaults()
      try daemon.signIn(at: sandbox)
      try sandbox.waitUntilWritten(["one", "two", "three"])
    }
  }

  @Test("an item that the API refuses is dead and does not hold up its lane; retry takes it to the lane's end")
  func rejected() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api/bad", "status": 422, "body": #"{"why":"no such thing"}"#])
      let bad = try daemon.enqueue("bad", to: sandbox.url + "/api/bad")
      try daemon.enqueue("good", to: sandbox.notes)
      let item = try daemon.waitForItem(bad, "dead", "rejected")
      #expect(item.lastStatus == 422 && item.lastError?.contains("no such thing") == true)
      try sandbox.waitUntilWritten(["good"])
      try sandbox.clearFaults()
      #expect(try daemon.call("outbox.retry", ["id": .string(bad)])["count"] == 1)
      try sandbox.waitUntilWritten(["good", "bad"])
    }
  }

  @Test("a write follows no redirect: it is dead, and token and body go nowhere else")
  func redirected() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      let elsewhere = try environment.sandbox("elsewhere")
      try sandbox.fault(["path": "/api", "redirect": .string(elsewhere.notes)])
      let id = try daemon.enqueue("note", to: sandbox.notes)
      try daemon.waitForItem(id, "dead", "redirected")
      #expect(try elsewhere.count("apiRequests") == 0)
    }
  }

  @Test("an API that is busy or broken is tried again until it takes the item", arguments: [429, 500, 503])
  func busy(status: Int) async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api", "status": JSON(status), "times": 2])
      let id = try daemon.enqueue("note", to: sandbox.notes)
      let item = try daemon.waitForItem(id, "delivered")
      #expect(item.attempts >= 2)
      #expect(try sandbox.written == ["note"])
    }
  }

  @Test("a head that waits holds its lane, and no other")
  func lanes() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api/slow", "status": 503])
      try daemon.enqueue("slow", to: sandbox.url + "/api/slow", ["lane": "a"])
      try daemon.enqueue("behind", to: sandbox.notes, ["lane": "a"])
      for body in ["1", "2", "3"] { try daemon.enqueue(body, to: sandbox.notes, ["lane": "b"]) }
      try sandbox.waitUntilWritten(["1", "2", "3"])
      try sandbox.clearFaults()
      try sandbox.waitUntilWritten(["1", "2", "3", "slow", "behind"])
    }
  }

  @Test("a crash with items in flight: each takes effect once")
  func crash() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api", "hang": true, "handle": true, "times": 3])
      let bodies = (1...5).map(String.init)
      for body in bodies { try daemon.enqueue(body, to: sandbox.notes, ["unordered": true]) }
      try eventually("three are handled and not answered") { try sandbox.effects.count >= 3 }
      try daemon.crash()
      try daemon.start()
      try eventually("all are delivered") { try daemon.outboxStats().delivered == 5 }
      #expect(try sandbox.written.sorted() == bodies)
      #expect(try sandbox.count("replays") >= 3, "what was handled before is answered, not done again")
    }
  }

  @Test("signing out keeps what waits, and it is delivered once its user is back")
  func signOutKeeps() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try daemon.call("outbox.pause", ["account": "work"])
      try daemon.enqueue("note", to: sandbox.notes)
      try daemon.call("session.signOut", ["account": "work"])
      try daemon.call("outbox.resume", ["account": "work"])
      let stats = try daemon.outboxStats()
      #expect(stats.pending + stats.held == 1 && stats.isPaused)
      try daemon.signIn(at: sandbox)
      try sandbox.waitUntilWritten(["note"])
    }
  }

  @Test("another user's items are held, sent under nobody else's token, and delivered when that user is back")
  func otherUser() async throws {
    try await TestEnvironment.session(Configuration.impatient, signsIn: false) { _, sandbox, daemon in
      try daemon.signIn(at: sandbox, subject: "ada")
      try daemon.call("outbox.pause", ["account": "work"])
      let adas = try daemon.enqueue("ada's", to: sandbox.notes)
      try daemon.call("session.signOut", ["account": "work"])
      try daemon.call("outbox.resume", ["account": "work"])
      try daemon.signIn(at: sandbox, subject: "bob")
      try daemon.waitForItem(adas, "held", "otherUser")
      try daemon.enqueue("bob's", to: sandbox.notes)
      try sandbox.waitUntilWritten(["bob's"])
      try daemon.restart()
      try daemon.waitForItem(adas, "held", "otherUser")
      try daemon.call("session.signOut", ["account": "work"])
      try daemon.signIn(at: sandbox, subject: "ada")
      try sandbox.waitUntilWritten(["bob's", "ada's"])
      #expect(try sandbox.effects.map { $0["subject"]?.string } == ["bob", "ada"])
    }
  }

  @Test("items are taken before anybody has signed in, and while locked")
  func everyState() async throws {
    try await TestEnvironment.session(Configuration.impatient, signsIn: false) { _, sandbox, daemon in
      try daemon.enqueue("nobody's yet", to: sandbox.notes)
      try daemon.signIn(at: sandbox)
      try sandbox.waitUntilWritten(["nobody's yet"])
      try daemon.call("session.lock")
      let locked = try daemon.enqueue("written locked", to: sandbox.notes)
      #expect(try daemon.item(locked).subject?.id == "2482" && daemon.outboxStats().isPaused)
      try daemon.call("session.unlock")
      try sandbox.waitUntilWritten(["nobody's yet", "written locked"])
    }
  }

  @Test("the same key and content again is the same item, through a restart; other content is refused: 1104")
  func idempotencyKey() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      let draft = daemon.draft("note", to: sandbox.notes, ["idempotencyKey": "k-1"])
      let first = try daemon.call("outbox.enqueue", draft)
      #expect(first["duplicate"] == false)
      let id = try #require(first["id"]?.string)
      try daemon.waitForItem(id, "delivered")
      try daemon.restart()
      let second = try daemon.call("outbox.enqueue", draft)
      #expect(second["id"] == .string(id) && second["duplicate"] == true)
      let other = daemon.draft("another", to: sandbox.notes, ["idempotencyKey": "k-1"])
      #expect(try daemon.refusal(of: "outbox.enqueue", other).code == 1104)
      #expect(try sandbox.effects.map { $0["key"]?.string } == ["k-1"])
    }
  }

  @Test("an address that is none of the account's is refused, 1006, and so are headers that are Hearth's own")
  func refused() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      for url in [
        "http://127.0.0.1:1/api", "https://127.0.0.1:\(sandbox.port)/api", "http://localhost:\(sandbox.port)/",
      ] {
        let refusal = try daemon.refusal(of: "outbox.enqueue", daemon.draft("note", to: url))
        #expect(refusal.code == 1006, "\(url): \(refusal)")
      }
      for name in ["Authorization", "idempotency-key", "Host", "Content-Length", "Transfer-Encoding", "Connection"] {
        let draft = daemon.draft("note", to: sandbox.notes, ["headers": [name: "x"]])
        #expect(try daemon.refusal(of: "outbox.enqueue", draft).code == -32602, "\(name)")
      }
      let many: JSONObject = [
        "items": [
          .object(daemon.draft("good", to: sandbox.notes)), .object(daemon.draft("bad", to: "http://127.0.0.1:1/")),
        ]
      ]
      let refusal = try daemon.refusal(of: "outbox.enqueueMany", many)
      #expect(refusal.code == 1006 && refusal.message.hasPrefix("items[1]: "), "\(refusal)")
      let stats = try daemon.outboxStats()
      #expect(stats.pending + stats.inFlight + stats.waiting + stats.delivered == 0, "all or none")
    }
  }

  @Test("a user's pause outlives a restart, and resume sends what came meanwhile")
  func pause() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try daemon.call("outbox.pause")
      try daemon.enqueue("note", to: sandbox.notes)
      try daemon.restart()
      try daemon.waitFor("authenticated")
      let stats = try daemon.outboxStats()
      #expect(stats.isPaused && stats.pausedReason != nil && stats.pending == 1)
      #expect(try daemon.call("outbox.flush", ["account": "work"])["pending"] == 1, "paused: answered at once")
      try daemon.call("outbox.resume")
      try sandbox.waitUntilWritten(["note"])
    }
  }

  @Test("flush tries waiting items now and answers when nothing is left; cancel takes one back")
  func flush() async throws {
    try await TestEnvironment.session("[outbox]\nretry_initial = \"10m\"\n") { _, sandbox, daemon in
      try sandbox.fault(["path": "/api", "status": 503, "times": 1])
      let id = try daemon.enqueue("note", to: sandbox.notes)
      try daemon.waitForItem(id, "waiting")
      let unwanted = try daemon.enqueue("unwanted", to: sandbox.notes)
      #expect(try daemon.call("outbox.cancel", ["id": .string(unwanted)])["count"] == 1)
      let stats = try daemon.call("outbox.flush", ["account": "work"])
      #expect(stats["delivered"] == 1 && stats["waiting"] == 0 && stats["pending"] == 0)
      #expect(try sandbox.written == ["note"])
      #expect(try daemon.item(unwanted).state == .cancelled)
      #expect(try daemon.refusal(of: "outbox.get", ["id": "nothing"]).code == 1102)
    }
  }

  @Test("subscribers are told of an item's way, and the snapshot is where they begin")
  func events() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      var events = try daemon.events("outbox")
      #expect(events.snapshot["outbox"]?["delivered"] == 0)
      try sandbox.fault(["path": "/api", "status": 503, "times": 1])
      let id = try daemon.enqueue("note", to: sandbox.notes)
      for name in ["outbox.enqueued", "outbox.retrying", "outbox.delivered"] {
        #expect(try events.next(name)["item"]?["id"] == .string(id))
      }
    }
  }

  @Test("a database that is none is set aside whole, and a new one begun")
  func brokenDatabase() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.makeFolder(daemon.state)
      let text = String(repeating: "this is no database. ", count: 400)
      try Files.write(text, to: daemon.state + "/outbox.sqlite")
      try daemon.start()
      #expect(Files.tree(daemon.state).contains { Files.text($0) == text })
    }
  }

  @Test("a page that answers 200 where JSON is expected is no delivery: the attempt counts, and another one follows")
  func page() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault([
        "path": "/api", "status": 200, "body": "<!doctype html><p>Welcome to the hotel", "contentType": "text/html",
      ])
      let expecting = try daemon.enqueue("one", to: sandbox.notes, ["expect": "json"])
      let item = try eventually("it waits") {
        let item = try daemon.item(expecting)
        return item.state == .waiting ? item : nil
      }
      #expect(item.attempts == 1 && item.lastStatus == 200)
      try sandbox.clearFaults()
      try daemon.waitForItem(expecting, "delivered")
      #expect(try sandbox.written == ["one"])
      let refusal = try daemon.refusal(
        of: "outbox.enqueue", daemon.draft("three", to: sandbox.notes, ["expect": "xml"]))
      #expect(refusal.code == -32602)
    }
  }

  @Test("an outbox that is damaged while the daemon runs is set aside whole, and new items are delivered")
  func damaged() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try daemon.call("outbox.pause", [:])
      for number in 1...100 { try daemon.enqueue("lost \(number)", to: sandbox.notes) }
      let path = "\(daemon.state)/outbox.sqlite"
      try await DatabaseQueue(path: path).write { db in
        try db.execute(sql: "UPDATE items SET url = x'ff' WHERE n % 7 = 0")
      }
      let refusal = try daemon.refusal(of: "outbox.list", ["account": "work"])
      #expect(refusal.code == 1105)
      let id = try eventually("a new item is taken") {
        do {
          return try daemon.enqueue("kept", to: sandbox.notes) as String?
        } catch ControlClient.Failure.refused(let error) where error.code == 1105 {
          return nil
        }
      }
      try daemon.call("outbox.resume", [:])
      try daemon.waitForItem(id, "delivered")
      #expect(try sandbox.written == ["kept"])
      let aside = try #require(Files.names(in: daemon.state).first { $0.hasPrefix("outbox.sqlite.broken-") })
      let kept = try await DatabaseQueue(path: "\(daemon.state)/\(aside)").read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM items")
      }
      #expect(kept == 100)
      #expect(try daemon.stop() == .exited(0))
      #expect(daemon.process?.errors.contains("It was moved to \(daemon.state)/\(aside), and") == true)
    }
  }
}

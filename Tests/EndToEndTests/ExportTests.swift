import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("An outbox goes from one machine to another", .serialized, .mayBlock) struct ExportTests {
  /// Two daemons with one API: `old` has queued items that were never sent.
  private func scene(
    _ body: (Sandbox, _ old: Daemon, _ new: Daemon, _ run: ([String], String?) throws -> TestEnvironment.Run) throws ->
      Void
  ) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let configuration = Configuration.oidc(sandbox) + Configuration.impatient
      let old = try environment.daemon(configuration, name: "old")
      let new = try environment.daemon(configuration, name: "new")
      try old.signIn(at: sandbox)
      try old.call("outbox.pause", ["account": "work"])
      try body(sandbox, old, new) { try environment.hearthctl($0, input: $1) }
    }
  }

  @Test("what one has not delivered the other delivers, all of it, once and in order, however often it is imported")
  func moved() async throws {
    try await scene { sandbox, old, new, hearthctl in
      let bodies = (1...250).map { "note \($0)" }
      for body in bodies { try old.enqueue(body, to: sandbox.notes, ["headers": ["X-Kind": "note"]]) }
      let file = old.folder + "/outbox.jsonl"
      let export = try hearthctl(["outbox", "export", "work", "--output", file, "--socket", old.socket], nil)
      #expect(export.status == 0 && export.output == "250 items exported to \(file).\n")
      #expect(Files.mode(file) == 0o600)
      let token = try old.token().secret
      #expect(!Files.text(file).contains(token))
      try old.stop()
      try new.signIn(at: sandbox)
      let dry = try hearthctl(["outbox", "import", file, "--dry-run", "--socket", new.socket], nil)
      #expect(dry.status == 0 && dry.output == "250 items would be imported.\n")
      #expect(try new.outboxStats().pending == 0 && sandbox.written.isEmpty)
      for known in [0, 250] {
        let run = try hearthctl(["outbox", "import", file, "--json", "--socket", new.socket], nil)
        let report = #"{"imported":\#(250 - known),"held":0,"known":\#(known),"ended":0,"refused":0}"#
        #expect(run.status == 0 && run.output == report + "\n", "\(run)")
      }
      try sandbox.waitUntilWritten(bodies)
      let again = try hearthctl(["outbox", "import", file, "--socket", new.socket], nil)
      #expect(again.output == "0 items imported.\n250 items already in the outbox.\n")
      let dryAgain = try hearthctl(["outbox", "import", file, "--dry-run", "--socket", new.socket], nil)
      #expect(dryAgain.output == "0 items would be imported.\n250 items already in the outbox.\n")
      #expect(try new.outboxStats().delivered == 250 && sandbox.count("replays") == 0)
    }
  }

  @Test("a dry run meets the limit and the lines that are there twice as the import does, over several calls, too")
  func dryRun() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let old = try environment.daemon(Configuration.oidc(sandbox), name: "old")
      let new = try environment.daemon(Configuration.oidc(sandbox) + "[outbox]\nmax_items = 150\n", name: "new")
      for number in 1...151 { try old.enqueue("note \(number)", to: sandbox.notes) }
      try old.enqueue("keyed", to: sandbox.notes, ["idempotencyKey": "k"])
      let export = try environment.hearthctl(["outbox", "export", "--socket", old.socket]).output
      let lines = export.split(separator: "\n").map { "\($0)\n" }
      func importing(_ lines: [String], _ more: String...) throws -> TestEnvironment.Run {
        try environment.hearthctl(["outbox", "import", "-", "--socket", new.socket] + more, input: lines.joined())
      }
      let tooMany = try importing(lines, "--dry-run")
      #expect(tooMany.status == 5 && tooMany.errors.contains("The outbox is full"), "\(tooMany)")
      let keyed = lines[151]
      let (id, other) = (try RawLink.text("id", in: keyed), try RawLink.text("id", in: lines[0]))
      let copy = keyed.replacing(id, with: other)
      let refused = try importing(
        [keyed, copy, copy.replacing("keyed", with: "other").replacing(other, with: "x")], "--dry-run")
      #expect(refused.output == "1 item would be imported.\n1 item already in the outbox.\n", "\(refused)")
      #expect(refused.errors.contains("line 3: Another item with different content has this idempotency key"))
      let fitting = Array(lines.prefix(150)) + lines.prefix(110)
      #expect(
        try importing(fitting, "--dry-run").output == "150 items would be imported.\n110 items already in the outbox.\n"
      )
      #expect(try new.outboxStats().pending == 0)
      #expect(try importing(fitting).output == "150 items imported.\n110 items already in the outbox.\n")
      #expect(try importing([lines[150]]).status == 5)
    }
  }

  @Test("an import that is interrupted says what it has done and how to go on, and going on misses and doubles nothing")
  func interrupted() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let old = try environment.daemon(Configuration.oidc(sandbox), name: "old")
      let new = try environment.daemon(Configuration.oidc(sandbox), name: "new")
      for number in 1...150 { try old.enqueue("note \(number)", to: sandbox.notes) }
      let export = try environment.hearthctl(["outbox", "export", "--socket", old.socket]).output
      let lines = export.split(separator: "\n").map { $0 + "\n" }
      let pipe = environment.folder + "/pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      let process = try environment.spawn("hearthctl", ["outbox", "import", pipe, "--socket", new.socket])
      let descriptor = open(pipe, O_WRONLY)
      defer { close(descriptor) }
      func write(_ lines: some Sequence<Substring>) {
        let bytes = Array(lines.joined().utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
      }
      write(lines[..<101].map { $0[...] })
      try eventually("the first hundred are there") { try new.outboxStats().pending == 100 }
      process.signal(SIGINT)
      write(lines[101..<102].map { $0[...] })
      #expect(try process.wait() == .exited(130))
      #expect(
        process.errors == "Stopped at line 101. Import the file again to queue the rest. Nothing is queued "
          + "twice.\nhearthctl: Interrupted. 100 items imported.\n")
      let file = environment.folder + "/all.jsonl"
      try Files.write(export, to: file)
      let rest = try environment.hearthctl(["outbox", "import", file, "--socket", new.socket])
      #expect(rest.status == 0 && rest.output == "50 items imported.\n100 items already in the outbox.\n")
    }
  }

  @Test("another user's items are never sent under the one who is signed in; they wait for theirs")
  func otherUser() async throws {
    try await scene { sandbox, old, new, hearthctl in
      try old.enqueue("2482's", to: sandbox.notes)
      let lines = try hearthctl(["outbox", "export", "--socket", old.socket], nil).output
      try new.signIn(at: sandbox, subject: "bob")
      let run = try hearthctl(["outbox", "import", "-", "--socket", new.socket], lines)
      #expect(run.status == 0 && run.output.hasPrefix("1 item imported.\n1 item is held"), "\(run)")
      try new.enqueue("bob's", to: sandbox.notes)
      try sandbox.waitUntilWritten(["bob's"])
      #expect(try new.outboxStats().held == 1)
      try new.call("session.signOut", ["account": "work"])
      try new.signIn(at: sandbox)
      try sandbox.waitUntilWritten(["bob's", "2482's"])
      #expect(try sandbox.effects.map { $0["subject"]?.string } == ["bob", "2482"])
    }
  }

  @Test("a line that is refused is named by its number, and no other is lost")
  func refused() async throws {
    try await scene { sandbox, old, new, hearthctl in
      for body in ["1", "2", "3"] { try old.enqueue(body, to: sandbox.notes) }
      var lines = try hearthctl(["outbox", "export", "--socket", old.socket], nil).output
        .split(separator: "\n").map(String.init)
      let elsewhere = lines[0].replacing(sandbox.url, with: "https://elsewhere.example.com")
      lines.insert("{ no JSON", at: 1)
      lines.insert(elsewhere.replacing(#""id":"0"#, with: #""id":"1"#), at: 3)
      lines.append("")
      lines.append(lines[0].replacing(#""pending""#, with: #""delivered""#))
      try new.signIn(at: sandbox)
      let run = try hearthctl(["outbox", "import", "-", "--socket", new.socket], lines.joined(separator: "\n"))
      #expect(run.status == 1)
      #expect(run.output == "3 items imported.\n1 item skipped (already finished).\n", "\(run)")
      #expect(run.errors.contains("line 2: Invalid JSON"))
      #expect(run.errors.contains("line 4: https://elsewhere.example.com is not in the api_origins of work"), "\(run)")
      #expect(run.errors.hasSuffix("hearthctl: 2 lines were rejected.\n"))
      try sandbox.waitUntilWritten(["1", "2", "3"])
    }
  }

  @Test("what was exported long ago may have been sent since: it needs review, unless a person says that it was not")
  func old() async throws {
    try await scene { sandbox, old, new, hearthctl in
      let ids = try ["1", "2"].map { try old.enqueue($0, to: sandbox.notes, ["lane": .string($0)]) }
      let lines = try hearthctl(["outbox", "export", "--socket", old.socket], nil).output
        .replacing(/"exportedAt":"[^"]*"/, with: #""exportedAt":"2026-01-01T00:00:00Z""#)
        .split(separator: "\n").map(String.init)
      try new.signIn(at: sandbox)
      #expect(try hearthctl(["outbox", "import", "-", "--socket", new.socket], lines[0]).status == 0)
      try new.waitForItem(ids[0], "held", "needsReview")
      #expect(try hearthctl(["outbox", "import", "-", "--unsent", "--socket", new.socket], lines[1]).status == 0)
      try sandbox.waitUntilWritten(["2"])
      #expect(try new.call("outbox.retry", ["id": .string(ids[0])])["count"] == 1)
      try sandbox.waitUntilWritten(["2", "1"])
    }
  }

  @Test("where the file cannot be written nothing is left, and what was there stays")
  func unwritable() async throws {
    try await scene { _, old, _, hearthctl in
      let run = try hearthctl(["outbox", "export", "--output", "/nowhere/x.jsonl", "--socket", old.socket], nil)
      #expect(run.status == 1)
      #expect(run.errors == "hearthctl: /nowhere/x.jsonl cannot be written: No such file or directory.\n")
      let missing = try hearthctl(["outbox", "import", "/nowhere/x.jsonl", "--socket", old.socket], nil)
      #expect(missing.errors == "hearthctl: /nowhere/x.jsonl cannot be read: No such file or directory.\n")
      let delivered = try hearthctl(["outbox", "export", "--state", "delivered", "--socket", old.socket], nil)
      #expect(delivered.status == 64 && delivered.errors.contains("no longer has their content"))
    }
  }

  @Test("an account's configuration says what its API means by a status, from the next answer on")
  func overrides() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.fault(["path": "/api/gone", "status": 410])
      try sandbox.fault(["path": "/api/later", "status": 404, "times": 2])
      let dead = try daemon.enqueue("1", to: sandbox.url + "/api/gone")
      try daemon.waitForItem(dead, "dead", "rejected")
      let rules = """
        [[accounts.work.delivery]]
        status = 410
        outcome = "delivered"
        [[accounts.work.delivery]]
        status = [404]
        outcome = "retry"

        """
      try daemon.configure(Configuration.oidc(sandbox) + rules + Configuration.impatient)
      try daemon.call("daemon.reload")
      let gone = try daemon.enqueue("2", to: sandbox.url + "/api/gone")
      let later = try daemon.enqueue("3", to: sandbox.url + "/api/later")
      let item = try daemon.waitForItem(gone, "delivered")
      #expect(item.lastStatus == 410 && item.lastError?.contains("configuration counts as delivered") == true)
      #expect(try daemon.waitForItem(later, "delivered").attempts == 3)
      #expect(try daemon.item(dead).state == .dead, "what was decided before stays")
    }
  }
}

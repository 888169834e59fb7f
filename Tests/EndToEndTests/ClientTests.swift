import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

/// `HearthClient` with the real daemon.
@Suite("A program with HearthClient", .serialized, .mayBlock) struct ClientTests {
  @Test("typed calls: status, token, a report, a queued request, a request that is answered")
  func calls() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let hearth = try await HearthClient.connect(socket: daemon.socket)
      let status = try await hearth.status(of: "work")
      #expect(status.state == .authenticated && status.subject == "2482" && status.action == nil)
      #expect(try await hearth.sessions().map(\.account) == ["work"])

      let token = try await hearth.token(for: "work", validFor: .seconds(60))
      #expect(token.reveal() == (try daemon.token().secret))
      #expect(token.authorization == "Bearer \(token.reveal())")
      for text in ["\(token)", String(reflecting: token), dumped(token)] {
        #expect(!text.contains(token.reveal()))
        #expect(text.contains(token.fingerprint))
      }
      try await hearth.reportUnauthorized(token)
      #expect(try await hearth.token(for: "work").fingerprint != token.fingerprint)

      let note = HearthClient.Request("POST", sandbox.notes, body: Array("from a program".utf8))
      let receipt = try await hearth.enqueue(note, for: "work", idempotencyKey: "once")
      let again = try await hearth.enqueue(note, for: "work", idempotencyKey: "once")
      #expect(!receipt.isDuplicate && again.isDuplicate && again.id == receipt.id)
      try sandbox.waitUntilWritten(["from a program"])
      #expect(try await hearth.item(receipt.id).idempotencyKey == "once")
      #expect(try await hearth.outbox(of: "work").dead == 0)
      let answer = try await hearth.send(HearthClient.Request("GET", "\(sandbox.url)/userinfo"), for: "work")
      #expect(answer.status == 200 && !answer.body.isEmpty && answer.age == nil)
      let diary = HearthClient.Request("GET", "\(sandbox.url)/api/diary")
      try sandbox.fault([
        "path": "/api/diary", "status": 200, "body": "dear", "headers": ["Cache-Control": "private"], "times": 1,
      ])
      try sandbox.fault(["path": "/api/diary", "status": 503])
      _ = try await hearth.send(diary, for: "work", staleIfError: true)
      #expect(try await hearth.send(diary, for: "work").status == 503)
      let earlier = try await hearth.send(diary, for: "work", staleIfError: true)
      #expect(earlier.status == 200 && earlier.body == Array("dear".utf8) && earlier.age != nil)
      #expect("\(try await hearth.status(of: "work"))" == "work, authenticated: Signed in.")

      #expect(try await hearth.lock("work").first?.reason == "lockedByUser")
      do {
        _ = try await hearth.token(for: "work")
        Issue.record("a locked account gives no token")
      } catch let failure as HearthClient.Failure {
        #expect(failure.kind == .locked && failure.code == 1003 && failure.isRetryable)
        #expect(failure.description.contains("hearthctl unlock work"))
      }
      #expect(try await hearth.unlock("work").first?.state == .authenticated)
      #expect(try await hearth.call("session.list").contains("\"account\":\"work\""))
    }
  }

  private func dumped(_ token: HearthClient.Token) -> String {
    var text = ""
    dump(token, to: &text)
    return text
  }

  @Test("a hundred calls at once share one connection, and each gets its own answer")
  func manyAtOnce() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox) + Configuration.oidc(sandbox, account: "home"))
      let hearth = try await HearthClient.connect(socket: daemon.socket)
      let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
        for number in 1...100 {
          let account = number % 2 == 0 ? "work" : "home"
          group.addTask { (account, try await hearth.status(of: account).account) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count == 100 && answers.allSatisfy { $0.0 == $0.1 })
    }
  }

  @Test("events go on across kill -9 and a restart: a snapshot, and then each once")
  func restart() async throws {
    try await TestEnvironment.session { _, _, daemon in
      let hearth = try await HearthClient.connect(socket: daemon.socket)
      var events = hearth.events().makeAsyncIterator()
      guard case .snapshot(let sessions, _) = await events.next() else { throw Unexpected() }
      #expect(sessions.map(\.state) == [.authenticated])

      try daemon.refresh()
      guard let before = await fingerprint(&events) else { throw Unexpected() }
      try daemon.crash()
      var next = await events.next()
      while case .sessionChanged = next { next = await events.next() }
      guard case .unavailable(let failure) = next else { throw Unexpected() }
      #expect(failure.kind == .disconnected)

      try daemon.start()
      guard case .snapshot(let again, _) = await events.next() else { throw Unexpected() }
      #expect(again.map(\.account) == ["work"])
      try daemon.waitFor("authenticated")
      let current = try daemon.token().fingerprint
      #expect(current == before)
      for _ in 1...3 {
        let known = try daemon.token().fingerprint
        try daemon.refresh()
        let heard = await fingerprint(&events)
        #expect(heard == (try daemon.token().fingerprint) && heard != known)
      }
      // Calls find the new daemon too.
      #expect(try await hearth.status(of: "work").state == .authenticated)
    }
  }

  /// Of the next new token; events of other kinds are passed over, but the daemon is to be there.
  private func fingerprint(_ events: inout HearthClient.Events.Iterator) async -> String? {
    while let event = await events.next() {
      switch event {
      case .tokenRefreshed(_, let fingerprint, _, _): return fingerprint
      case .unavailable, .snapshot: return nil
      default: continue
      }
    }
    return nil
  }

  @Test("events end when their task is cancelled, though nothing happens")
  func cancelled() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      let hearth = try await HearthClient.connect(socket: daemon.socket)
      let (began, begin) = AsyncStream.makeStream(of: Void.self)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          for await _ in hearth.events() { begin.yield() }
          begin.finish()
        }
        for await _ in began { group.cancelAll() }
      }
    }
  }

  @Test("a daemon that is stopped costs a call its timeout")
  func stopped() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      let hearth = try await HearthClient.connect(socket: daemon.socket, timeout: .seconds(10))
      try daemon.process?.freeze()
      defer { daemon.process?.signal(SIGCONT) }
      do {
        _ = try await hearth.sessions()
        Issue.record("nobody can have answered")
      } catch let failure as HearthClient.Failure {
        #expect(failure.kind == .timedOut)
      }
    }
  }

  @Test("the example programs, in Swift and in Python, show a token's name and follow what happens")
  func examples() async throws {
    try await TestEnvironment.session { environment, _, daemon in
      let variables = ["HEARTH_SOCKET": daemon.socket]
      let token = try daemon.token()
      // It writes by the line, as on a terminal.
      let example = try environment.spawn(
        "hearth-follow", ["work"], environment: variables, launcher: ["/usr/bin/stdbuf", "-oL"])
      // A shell that starts another program in place of the one it is given.
      let python = try environment.spawn(
        "hearth-follow", [], environment: variables,
        launcher: ["/bin/sh", "-c", "exec python3 \(Self.etc)/examples/follow.py work"])
      for program in [example, python] {
        try eventually("the example has begun to follow") { program.output.contains("authenticated") }
        #expect(program.output.contains(token.fingerprint) && !program.output.contains(token.secret))
      }
      try daemon.call("session.lock", ["account": "work"])
      for program in [example, python] {
        try eventually("the example tells of the lock: \(program.errors)") { program.output.contains("locked") }
      }
    }
  }

  @Test("the programs of keep-your-token.md: a helper command, and the socket with a report of a 401")
  func page() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let programs = Files.text("\(Self.etc)/docs/keep-your-token.md").matches(of: /(?s)```python\n(.*?)```/).map {
        String($0.1).replacing("https://api.example.com/me", with: "\(sandbox.url)/api/whoami")
          .replacing("https://api.example.com", with: sandbox.url)
      }
      try #require(programs.count == 2)
      let path = "\(environment.folder)/program.py"
      func run(_ program: String, exits status: Int32 = 0) throws -> ChildProcess {
        try Files.write(program, to: path)
        let process = try environment.spawn(
          "hearthctl", [],
          environment: ["HEARTH_SOCKET": daemon.socket, "PATH": "\(ChildProcess.binaries):/usr/bin:/bin"],
          launcher: ["/bin/sh", "-c", "exec python3 \(path)"])
        #expect(try process.wait() == .exited(status), "\(process.errors)")
        return process
      }
      let token = try daemon.token()
      let helper = programs[0] + "\nprint(token())\n"
      #expect(try run(helper).output == token.secret + "\n")
      try sandbox.fault(["path": "/api/whoami", "status": 401, "times": 1])
      #expect(try run(programs[1]).output.contains("\"subject\":\"2482\""))
      #expect(try daemon.token().fingerprint != token.fingerprint)
      try daemon.call("session.lock", ["account": "work"])
      #expect(try run(helper, exits: 4).errors.contains("hearthctl unlock work"))
    }
  }

  private static let etc = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/etc"

  private struct Unexpected: Error {}
}

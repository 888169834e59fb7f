import Glibc
import TestSupport
import Testing

@Suite("hearthctl waits for no daemon for ever", .serialized, .mayBlock) struct TimeoutTests {
  private static let verbs = [
    ["status"], ["status", "work"], ["status", "--watch"], ["login", "work"], ["logout", "work"], ["token", "work"],
    ["refresh", "work"], ["lock"], ["unlock"], ["outbox", "add", "work", "POST", "http://127.0.0.1:1/"],
    ["outbox", "list"], ["outbox", "show", "1"], ["outbox", "retry", "1"], ["outbox", "cancel", "1"],
    ["outbox", "pause"], ["outbox", "resume"], ["outbox", "stats"], ["events"], ["rpc", "session.list"],
  ]

  @Test("while the daemon is stopped, every verb ends after its --timeout with 5 and says what to do")
  func stopped() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      try daemon.process?.freeze()
      defer { daemon.process?.signal(SIGCONT) }
      for verb in Self.verbs {
        let run = try environment.hearthctl(verb + ["--timeout", "0.3", "--socket", daemon.socket])
        #expect(run.status == 5, "\(verb)")
        #expect(run.output == "", "\(verb)")
        #expect(
          run.errors == "hearthctl: The daemon did not answer within 0.3 s. Check it with \"systemctl --user status "
            + "hearthd\", or allow more time with --timeout.\n", "\(verb)")
      }
      let doctor = try environment.hearthctl(["doctor", "--timeout", "0.3", "--socket", daemon.socket])
      #expect(doctor.status == 5)
      #expect(doctor.output.contains("The daemon did not answer within 0.3 s"))
      // It may wait as long as it was told, and a while for the answer.
      let flush = try environment.hearthctl(["outbox", "flush", "--timeout", "0", "--socket", daemon.socket])
      #expect(flush.status == 5)
      #expect(flush.errors.contains("did not answer within 5 s"))
      // So may the API, at least a second.
      let request = ["request", "work", "GET", "http://127.0.0.1:1/", "--timeout", "0.3", "--socket", daemon.socket]
      let run = try environment.hearthctl(request)
      #expect(run.status == 5 && run.output.isEmpty)
      #expect(run.errors.contains("did not answer within 6 s"))
    }
  }

  @Test("what watches ends with 5 when the daemon is stopped meanwhile")
  func stoppedMeanwhile() async throws {
    try await TestEnvironment.session(signsIn: false) { environment, _, daemon in
      let watching = try [["events"], ["status", "--watch"]].map { verb in
        // Long enough for a daemon that answers.
        let process = try environment.spawn("hearthctl", verb + ["--timeout", "10", "--socket", daemon.socket])
        try eventually("it has subscribed") {
          try daemon.call("daemon.reload")
          return !process.output.isEmpty
        }
        return process
      }
      try daemon.process?.freeze()
      defer { daemon.process?.signal(SIGCONT) }
      for process in watching {
        #expect(try process.waitForExit() == 5)
        #expect(process.errors.contains("The daemon did not answer within 10 s"))
      }
    }
  }

  @Test("so it does where nobody accepts, with room in the queue and without")
  func nobodyAccepts() async throws {
    try await TestEnvironment.run { environment in
      let path = "\(environment.folder)/s"
      let listener = try #require(UnixSocket.bound(SOCK_STREAM, at: path))
      defer { close(listener) }
      try #require(listen(listener, 1) == 0)
      // Of a queue for one, two connections are taken (listen(2)), and stay in it; after them there is no room.
      for _ in 0..<3 {
        let run = try environment.hearthctl(["token", "work", "--timeout", "0.3", "--socket", path])
        #expect(run.status == 5)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("hearthctl: The daemon did not answer within 0.3 s. "))
      }
    }
  }

  @Test("a --timeout that is none is wrong usage", arguments: ["0", "-1", "x", "nan", "1e30"])
  func noTimeout(text: String) async throws {
    try await TestEnvironment.run { environment in
      let run = try environment.hearthctl(["status", "--timeout=\(text)", "--socket", "\(environment.folder)/s"])
      #expect(run.status == 64)
      #expect(run.errors.contains("timeout"))
    }
  }
}

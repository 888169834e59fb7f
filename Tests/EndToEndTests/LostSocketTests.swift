import HearthControl
import TestSupport
import Testing

@Suite("Files that others remove while the daemon runs", .serialized, .mayBlock) struct LostSocketTests {
  @Test("the socket and its folder are there again, and a second daemon is still told that another one runs")
  func folder() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      func expectAnswer() throws {
        try eventually("the daemon answers") { (try? daemon.call("daemon.getInfo")) != nil }
      }
      Files.removeTree("\(daemon.folder)/run")
      try expectAnswer()
      try Files.remove(daemon.socket)
      try expectAnswer()
      let second = try environment.hearthd(daemon.arguments)
      #expect(second.status == 1 && second.errors.contains("Another hearthd"))
      #expect(try daemon.stop() == .exited(0))
      #expect(!Files.exists(daemon.socket))
    }
  }

  @Test("the lock of the state folder is taken again, so that there is never a second daemon on it")
  func lock() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon("")
      let lock = "\(daemon.state)/lock"
      try Files.remove(lock)
      try eventually("the lock is there again") { Files.exists(lock) }
      let other = "\(environment.folder)/other.sock"
      let second = try environment.hearthd(
        ["--config", daemon.configurationPath, "--socket", other, "--state-dir", daemon.state])
      #expect(second.status == 1 && second.errors.contains("Another hearthd"))
      try daemon.call("daemon.getInfo")
    }
  }
}

import Glibc
import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("A log that others would fill", .serialized, .mayBlock) struct LogFloodTests {
  @Test(
    "a client in a loop, and an API that refuses everything, write a bounded number of lines, and their count is told")
  func bounded() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(
        on: environment, name: "daemon", configuration: Configuration.oidc(sandbox) + Configuration.impatient)
      daemon.logLevel = "info"
      try daemon.start()
      try daemon.signIn(at: sandbox)
      try sandbox.fault(["path": "/api/bad", "status": 400])
      let item = JSON.object(daemon.draft("x", to: sandbox.url + "/api/bad", ["unordered": true]))
      for _ in 0..<5 { try daemon.call("outbox.enqueueMany", ["items": .array(Array(repeating: item, count: 100))]) }
      try eventually("all are dead", within: .seconds(60)) { try daemon.outboxStats().dead == 500 }
      var client = try ControlClient(path: daemon.socket)
      for _ in 0..<300 {
        _ = try client.call("session.lock")
        _ = try client.call("session.unlock")
        _ = try client.call("outbox.pause")
        _ = try client.call("outbox.resume")
        _ = try client.call("daemon.reload")
      }
      try Files.write("nonsense\n\n", to: daemon.configurationPath)
      for _ in 0..<300 { _ = try? client.call("daemon.reload") }
      let errors = try #require(daemon.process).errors
      try daemon.stop()
      let whole = try #require(daemon.process).errors
      func lines(_ event: String, in text: String) -> Int { text.split(separator: "\n").count { $0.contains(event) } }
      for event in [
        "outbox.itemDead", "session.changed", "outbox.paused", "outbox.resumed", "daemon.reloaded",
        "daemon.configurationRefused",
      ] {
        // A hundred at once, and one in two seconds.
        #expect((100...130).contains(lines(" \(event) ", in: errors) + lines(" \(event):", in: errors)), "\(event)")
        #expect(whole.contains("more records of \(event)"), "\(event)")
      }
      #expect(whole.split(separator: "\n").count < 1000)
    }
  }
}

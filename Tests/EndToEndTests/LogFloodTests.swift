import Glibc
import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("A log that others would fill", .serialized, .mayBlock) struct LogFloodTests {
  /// What the log says of the records of one event.
  private struct Told {
    /// By whom they are about.
    var written: [Substring: Int] = [:]
    /// How many were left out, as the log says.
    var leftOut = 0

    var happened: Int { written.values.reduce(leftOut, +) }
  }

  private func told(_ log: String) -> [Substring: Told] {
    var events: [Substring: Told] = [:]
    for line in log.split(separator: "\n") {
      if let report = line.firstMatch(of: /(\d+) more (\S+) records?/) {
        events[report.output.2, default: Told()].leftOut += Int(report.output.1) ?? 0
      }
      // TIME LEVEL EVENT ACCOUNT: MESSAGE, with or without the account.
      let words = line.split(separator: " ").dropFirst(2).prefix(2)
      guard let first = words.first, let second = words.last else { continue }
      let (event, account): (Substring, Substring) = first.hasSuffix(":") ? (first.dropLast(), "") : (first, second)
      events[event, default: Told()].written[account, default: 0] += 1
    }
    return events
  }

  @Test(
    "a client in a loop, and an API that refuses everything, write a bounded number of lines, and their count is told")
  func bounded() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox) + Configuration.impatient)
      daemon.logLevel = "info"
      let start = ContinuousClock.now
      try daemon.start()
      try daemon.signIn(at: sandbox)
      try sandbox.fault(["path": "/api/bad", "status": 400])
      let item = JSON.object(daemon.draft("x", to: sandbox.url + "/api/bad", ["unordered": true]))
      for _ in 0..<5 { try daemon.call("outbox.enqueueMany", ["items": .array(Array(repeating: item, count: 100))]) }
      var dead = 0
      try eventually("all are dead", while: { dead }) {
        dead = try daemon.outboxStats().dead
        return dead == 500
      }
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
      try daemon.stop()

      let events = told(try #require(daemon.process).errors)
      // A hundred at once, and one in two seconds of the daemon's life, which was no longer than this: that holds however
      // slow the machine is.
      let allowed = 100 + Int((ContinuousClock.now - start) / .seconds(2))
      for (event, told) in events {
        for (account, count) in told.written { #expect(count <= allowed, "\(event) \(account)") }
      }
      // None is lost: what was not written was counted. What is locked and paused at once may be one change.
      #expect(events["outbox.itemDead"]?.happened == 500)
      let happened = [
        "session.changed": 300, "outbox.paused": 200, "outbox.resumed": 200, "daemon.reloaded": 300,
        "daemon.configurationRefused": 300,
      ]
      for (event, count) in happened { #expect(events[event[...]]?.happened ?? 0 >= count, "\(event)") }
    }
  }
}

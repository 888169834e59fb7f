import GRDB
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite("The outbox cannot be opened", .serialized, .mayBlock) struct NoOutboxTests {
  @Test("one of a newer version is left alone: sessions go on, and each call on it is refused with the reason")
  func newer() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      try daemon.stop()
      let path = "\(daemon.state)/outbox.sqlite"
      try DatabaseQueue(path: path).writeWithoutTransaction { db in
        try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')")
      }
      let before = Files.read(path)

      try daemon.start()
      try daemon.waitFor("authenticated")
      let refusal = try daemon.refusal(
        of: "outbox.enqueue", ["account": "work", "method": "POST", "url": .string(sandbox.notes)])
      #expect(refusal.code == 1105)
      let sentence = refusal.data?["message"]?.string ?? refusal.message
      #expect(sentence.contains("\(path) was written by a newer version of Hearth"))
      try daemon.refresh()
      #expect(try daemon.stop() == .exited(0))
      #expect(Files.read(path) == before)
      let told = daemon.process?.errors.split(separator: "\n").count { $0.contains("newer version") }
      #expect(told == 1)

      let check = try environment.hearthd(
        ["--config", daemon.configurationPath, "--state-dir", daemon.state, "--check-outbox"])
      #expect(check.status == 1 && check.errors.isOneLine)
      #expect(check.errors.contains("\(path) was written by a newer version of Hearth"))
    }
  }

  @Test("one that cannot be opened for another reason is opened as soon as it can be")
  func later() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      let path = "\(daemon.state)/outbox.sqlite"
      try Files.makeFolder(daemon.state)
      try Files.makeFolder(path)
      try daemon.start()
      try daemon.signIn(at: sandbox)
      let refusal = try daemon.refusal(
        of: "outbox.enqueue", ["account": "work", "method": "POST", "url": .string(sandbox.notes)])
      #expect(refusal.code == 1105 && refusal.message.contains("The outbox \(path) cannot be opened"))
      Files.removeTree(path)
      let id = try eventually("it is taken") {
        do {
          return try daemon.enqueue("note", to: sandbox.notes) as String?
        } catch ControlClient.Failure.refused(let error) where error.code == 1105 {
          return nil
        }
      }
      try daemon.waitForItem(id, "delivered")
    }
  }
}

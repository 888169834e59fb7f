import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite(
  "The disk is full", .serialized, .mayBlock,
  .enabled(if: SmallDisk.isPossible, "a small disk needs a mount namespace, which cannot be had here"))
struct DiskFullTests {
  @Test(
    "nothing new is accepted, what was accepted is delivered, and all goes on when room comes back",
    arguments: ["4m", "8m", "12m"])
  func full(_ size: String) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox) + Configuration.impatient)
      let disk = try SmallDisk(on: environment, over: daemon.state, size: size)
      daemon.launcher = disk.launcher
      try daemon.start()
      try daemon.signIn(at: sandbox)
      try daemon.call("outbox.pause", ["account": "work"])
      var accepted: [String] = []
      for number in 1...20 { accepted.append(try add(number, to: daemon, at: sandbox)) }

      try disk.fill()
      let refusal = try eventually("something is refused") { () -> RPCError? in
        do {
          accepted.append(try add(accepted.count + 1, to: daemon, at: sandbox))
          return nil
        } catch ControlClient.Failure.refused(let error) {
          return error
        }
      }
      #expect(refusal.code == 1105)
      #expect(refusal.data?["kind"] == "storageUnavailable")
      #expect(refusal.isRetryable)
      #expect(try daemon.status().state == "authenticated")
      #expect(try daemon.outboxStats().pending == accepted.count)

      // This needs a commit, too.
      try daemon.call("outbox.resume", ["account": "work"])
      try sandbox.waitUntilWritten(accepted)
      try eventually("all are written down as delivered") { try daemon.outboxStats().delivered == accepted.count }

      try disk.free()
      try eventually("new items are accepted again") {
        do {
          accepted.append(try add(accepted.count + 1, to: daemon, at: sandbox))
          return true
        } catch ControlClient.Failure.refused(let error) where error.code == 1105 {
          return false
        }
      }
      try sandbox.waitUntilWritten(accepted)
      #expect(try daemon.stop() == .exited(0))
    }
  }

  @Test(
    "the end of a session is not told before it could be written down, no token is served meanwhile, and then it is")
  func end() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      let disk = try SmallDisk(on: environment, over: daemon.state, size: "4m")
      daemon.launcher = disk.launcher
      try daemon.start()
      let grant = try sandbox.grant()
      try daemon.call("outbox.pause", ["account": "work"])
      try whileTokenLives(for: 6) { lifetime in
        // Nothing can renew it.
        let token: JSONObject = [
          "account": "work", "accessToken": .string(grant.accessToken), "expiresIn": JSON(lifetime), "replace": true,
        ]
        try daemon.call("session.import", token)
        try fill(disk, of: daemon, at: sandbox)
        if try daemon.status().token != nil { return true }
        try disk.free()
        // The daemon retries after up to 30 s.
        try daemon.waitFor("reauthRequired", "noRefreshToken", within: .generous * 2)
        return false
      }
      // Up to 24 s later.
      let ending = try daemon.waitUntil("it has run out", within: .generous * 2) {
        $0.message.contains("cannot save that yet")
      }
      #expect(ending.state == "authenticated" && ending.token == nil)
      #expect(try daemon.refusal(of: "session.getToken", ["account": "work"]).code == 1004)

      try disk.free()
      // The daemon retries after up to 30 s.
      try daemon.waitFor("reauthRequired", "noRefreshToken", within: .generous * 2)
      #expect(try daemon.refusal(of: "session.getToken", ["account": "work"]).code == 1002)
    }
  }

  @Test("if a lock cannot be saved, the session is locked and the caller is told that a restart forgets the lock")
  func lock() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      let disk = try SmallDisk(on: environment, over: daemon.state, size: "4m")
      daemon.launcher = disk.launcher
      try daemon.start()
      try daemon.signIn(at: sandbox)
      // The outbox has not noticed yet. As soon as it needs room, it releases its reserve, and the lock would fit.
      try disk.fill()
      let refusal = try daemon.refusal(of: "session.lock", ["account": "work"])
      #expect(refusal.code == 1105 && refusal.isRetryable && refusal.message.contains("only until Hearth restarts"))
      #expect(try daemon.status().state == "locked")
      let run = try environment.hearthctl(["lock", "work", "--socket", daemon.socket])
      #expect(run.status == 5 && run.errors.contains("only until Hearth restarts"))
      try disk.free()
      // The daemon retries after up to 30 s.
      try eventually("the lock is saved", within: .generous * 2) {
        (try? daemon.call("session.lock", ["account": "work"])) != nil
      }
    }
  }

  /// What is refused the first time leaves room behind: the outbox's log, which is emptied.
  private func fill(_ disk: SmallDisk, of daemon: Daemon, at sandbox: Sandbox) throws {
    for _ in 0..<2 {
      try disk.fill()
      try eventually("the disk is full") {
        do {
          try daemon.enqueue(String(repeating: ".", count: 300_000), to: sandbox.notes)
          return false
        } catch ControlClient.Failure.refused(let error) {
          return error.code == 1105
        }
      }
    }
  }

  /// A note with a body that is told apart and known to the sandbox by its text.
  private func add(_ number: Int, to daemon: Daemon, at sandbox: Sandbox) throws -> String {
    let body = "note \(number) " + String(repeating: ".", count: 200)
    try daemon.enqueue(body, to: sandbox.notes)
    return body
  }
}

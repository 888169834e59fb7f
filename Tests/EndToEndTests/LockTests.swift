import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("Locked is not signed out", .serialized, .mayBlock) struct LockTests {
  @Test(
    "a credential that cannot be read is served from memory, then locked, and there again when it can be read",
    arguments: ["file", "folder"])
  func unreadable(place: String) async throws {
    try await TestEnvironment.session(unprivileged: true) { _, sandbox, daemon in
      let path = place == "file" ? daemon.credential() : daemon.credentials
      let mode = try #require(Files.mode(path))
      try Files.setMode(path, 0)
      let unread = try daemon.waitUntil("the file counts as unreadable") { !$0.credential.readable }
      let held = try #require(unread.token?.fingerprint)
      #expect(unread.state == "authenticated")
      #expect(try daemon.token().fingerprint == held, "the token in memory is served until it expires")
      try Files.setMode(path, mode)
      try daemon.waitUntil("the file counts as readable") { $0.credential.readable }

      // The same with a token that expires soon. A refresh that is under way may put another file there.
      try daemon.signIn(at: sandbox, lifetime: 2, replace: true)
      try eventually("the file counts as unreadable, and nothing is under way") {
        try Files.setMode(path, 0)
        let status = try daemon.status()
        return !status.credential.readable && status.json["refresh"]?["inFlight"] == false
      }
      let refreshes = try sandbox.refreshes()

      let locked = try daemon.waitFor("locked", "permissionDenied")
      #expect(locked.action == "wait" && locked.route == "locked" && locked.subject == "2482")
      #expect(try sandbox.refreshes() == refreshes, "nothing is refreshed that could not be stored")
      try Files.setMode(path, mode)
      try daemon.waitFor("authenticated")
      _ = try daemon.token()
      #expect(try sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("with lock_on unreadable the session is locked at once")
  func lockOnUnreadable() async throws {
    try await TestEnvironment.session("lock_on = [\"unreadable\"]\n", unprivileged: true) { environment, _, daemon in
      try Files.setMode(daemon.credential(), 0)
      try daemon.waitFor("locked", "permissionDenied")
      let run = try environment.hearthctl(["token", "work", "--socket", daemon.socket])
      #expect(run.status == 4 && run.output.isEmpty)
      try Files.setMode(daemon.credential(), 0o600)
      try daemon.waitFor("authenticated")
    }
  }

  @Test("a daemon that starts before the credential can be read is locked, not signed out")
  func unreadableFromTheStart() async throws {
    try await TestEnvironment.session(unprivileged: true) { _, _, daemon in
      try daemon.stop()
      try Files.setMode(daemon.credential(), 0)
      try daemon.start()
      #expect(try daemon.waitFor("locked", "permissionDenied").subject == "2482")
      try Files.setMode(daemon.credential(), 0o600)
      try daemon.waitFor("authenticated")
    }
  }

  @Test("the user's lock holds back every token, outlives a restart, and is taken away by the user alone")
  func byUser() async throws {
    try await TestEnvironment.session { _, _, daemon in
      let token = try daemon.token()
      let answer = try daemon.call("session.lock", ["account": "work"])
      #expect(answer["sessions"]?[0]?["state"] == "locked")
      let refusal = try daemon.refusal(of: "session.getToken", ["account": "work"])
      #expect(refusal.code == 1003 && refusal.isRetryable && refusal.data?["action"] == "unlock")
      try daemon.restart()
      let status = try daemon.waitFor("locked", "lockedByUser")
      #expect(status.subject == "2482" && status.message == #"Locked. Run "hearthctl unlock work"."#)
      let unlocked = try daemon.call("session.unlock", ["account": "work"])
      #expect(unlocked["sessions"]?[0]?["state"] == "authenticated")
      #expect(try daemon.token().secret == token.secret)
      try daemon.restart()
      try daemon.waitFor("authenticated")
    }
  }

  @Test("a refresh in flight lands before the lock wipes the grant from memory")
  func refreshInFlight() async throws {
    try await TestEnvironment.session(sandbox: ["--grace", "0"]) { _, sandbox, daemon in
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      let answer = try daemon.call("session.lock", ["account": "work"])
      #expect(answer["sessions"]?[0]?["state"] == "locked", "locked at once")
      try sandbox.release()
      try eventually("the refresh has landed") { try sandbox.refreshes() == 2 }
      _ = try? await refresh
      try daemon.call("session.unlock", ["account": "work"])
      // What landed is what is held: a token that was rotated away would cost the session here.
      for _ in 1...2 { try daemon.refresh() }
      #expect(try daemon.status().state == "authenticated" && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("signing in while locked needs to be meant: replace")
  func signInWhileLocked() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try daemon.call("session.lock")
      let grant = try sandbox.grant()
      let refusal = try daemon.refusal(
        of: "session.import", ["account": "work", "refreshToken": .string(grant.refreshToken)])
      #expect(refusal.code == 1003)
      try daemon.signIn(at: sandbox, replace: true)
      try daemon.waitFor("authenticated")
    }
  }

  @Test("a volume that is away is a lock, nothing is made in its place, and the session is back with it")
  func volumeAway() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let volume = "\(environment.folder)/volume"
      try Files.makeFolder(volume)
      let daemon = try environment.daemon(Configuration.oidc(sandbox, "credential_file = \"\(volume)/work.json\""))
      try daemon.signIn(at: sandbox)
      let token = try daemon.token()
      try daemon.stop()
      try Files.move(volume, to: volume + ".away")
      try daemon.start()
      let status = try daemon.waitFor("locked", "volumeUnavailable")
      #expect(status.subject == "2482")
      #expect(!Files.exists(volume))
      // An empty mount point is no sign-out either.
      try Files.makeFolder(volume)
      try daemon.call("session.rehydrate")
      #expect(try daemon.status().reason == "volumeUnavailable")
      #expect(Files.names(in: volume).isEmpty)
      #expect(rmdir(volume) == 0)
      try Files.move(volume + ".away", to: volume)
      try daemon.waitFor("authenticated")
      #expect(try daemon.token().secret == token.secret)
    }
  }
}

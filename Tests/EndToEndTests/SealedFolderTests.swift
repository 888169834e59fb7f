import HearthControl
import TestSupport
import Testing

@Suite(
  "A credential in an encrypted folder", .serialized, .mayBlock,
  .enabled(if: SealedFolder.isPossible, "gocryptfs is not installed, or nothing can be mounted with /dev/fuse here"))
struct SealedFolderTests {
  /// Nothing reports that a folder was opened: the daemon looks after up to 30 s. A token lives for up to 24 s.
  private static let look: Duration = .generous * 2

  @Test("is locked while the folder is, nothing is made in its place, and the session is back by itself with it")
  func comesBack() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let folder = try SealedFolder(on: environment)
      try folder.mount()
      let daemon = try environment.daemon(Configuration.oidc(sandbox, "credential_file = \"\(folder.path)/work.json\""))
      var refreshes = 0
      // The token in memory is served.
      try whileTokenLives(for: 6) { lifetime in
        try daemon.signIn(at: sandbox, lifetime: Double(lifetime), replace: true)
        try folder.unmount()
        refreshes = try sandbox.refreshes()
        if (try? daemon.token()) != nil { return true }
        try folder.mount()
        try daemon.waitFor("authenticated", within: Self.look)
        return false
      }
      let locked = try daemon.waitFor("locked", "volumeUnavailable", within: Self.look)
      #expect(locked.subject == "2482" && locked.action == "wait")
      #expect(try sandbox.refreshes() == refreshes, "nothing is refreshed that could not be stored")
      #expect(Files.names(in: folder.path).isEmpty, "nothing is made in its place")
      try daemon.restart()
      #expect(try daemon.waitFor("locked", "volumeUnavailable").subject == "2482")
      try folder.mount()
      try daemon.waitFor("authenticated", within: Self.look)
      _ = try daemon.token()
      #expect(try sandbox.count("reuseDetected") == 0)
      try daemon.stop()
    }
  }

  @Test("a sign-out while the folder is locked is carried out by itself when it is open again")
  func signOut() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let folder = try SealedFolder(on: environment)
      try folder.mount()
      let daemon = try environment.daemon(Configuration.oidc(sandbox, "credential_file = \"\(folder.path)/work.json\""))
      try daemon.signIn(at: sandbox)
      #expect(Files.exists("\(folder.path)/work.json"))
      try folder.unmount()
      try daemon.call("session.signOut", ["account": "work"])
      try daemon.waitFor("unauthenticated", "signedOut")
      try folder.mount()
      try eventually("the credential is removed", within: Self.look) { Files.names(in: folder.path).isEmpty }
      try daemon.waitUntil("nothing is wrong with it any more") { $0.credential.error == nil }
      try daemon.stop()
    }
  }

  @Test("one that hangs holds up its own account alone, whose token is served meanwhile, and is read once it answers")
  func hangs() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let folder = try SealedFolder(on: environment)
      try folder.mount()
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox, "credential_file = \"\(folder.path)/work.json\"")
          + Configuration.oidc(sandbox, account: "other"))
      try daemon.signIn(at: sandbox)
      try daemon.signIn("other", at: sandbox)
      let held = try daemon.token().fingerprint
      try folder.hang()
      try daemon.call("session.rehydrate", ["account": "work"])
      #expect(try daemon.token().fingerprint == held)
      try daemon.call("session.refresh", ["account": "other"])
      let status = try daemon.waitUntil("it counts as unreadable") { !$0.credential.readable }
      #expect(status.state == "authenticated")
      #expect(status.credential.error?.contains("did not answer") == true, "\(status.credential.error ?? "")")
      #expect(try daemon.token().fingerprint == held)
      try folder.fix()
      try daemon.waitUntil("it is read again") { $0.credential.readable && $0.credential.error == nil }
      try daemon.refresh()
      #expect(try sandbox.count("reuseDetected") == 0)
      try daemon.stop()
    }
  }
}

import HearthControl
import TestSupport
import Testing

@Suite("Other programs write the credential", .serialized, .mayBlock) struct OtherProgramsTests {
  @Test(
    "a grant that another program puts in the file's place, or writes into it, is taken over", arguments: [true, false])
  func replaced(byRename: Bool) async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let before = try daemon.token()
      let grant = try sandbox.grant()
      let text = CredentialText.grant(grant, of: sandbox)
      if byRename {
        try Files.replace(daemon.credential(), with: text)
      } else {
        try Files.write(text, to: daemon.credential())
      }
      try daemon.waitUntil("the new grant is there") { status in
        status.token.map { $0.fingerprint != before.fingerprint } ?? false
      }
      #expect(try daemon.token().secret == grant.accessToken)
      try daemon.refresh()
      #expect(try daemon.status().state == "authenticated")
    }
  }

  @Test("another program's grant that cannot be read when the provider refuses ours is taken over once it can be")
  func unreadableWhileRefused() async throws {
    try await TestEnvironment.session(unprivileged: true) { environment, sandbox, daemon in
      try sandbox.revoke()
      let grant = try sandbox.grant()
      try sandbox.hold("/token")
      _ = try environment.spawn(
        "hearthctl", ["refresh", "work", "--socket", daemon.socket], user: environment.user)
      try sandbox.waitUntilHeld()
      let aside = environment.folder + "/aside.json"
      try Files.write(CredentialText.grant(grant, of: sandbox), to: aside, owner: environment.user)
      try Files.setMode(aside, 0)
      try Files.move(aside, to: daemon.credential())
      try sandbox.release()
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      try Files.setMode(daemon.credential(), 0o600)
      try daemon.waitFor("authenticated")
      #expect(try daemon.token().secret == grant.accessToken)
    }
  }

  @Test("a first credential that appears signs in")
  func appears() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      try daemon.waitFor("unauthenticated", "neverSignedIn")
      let grant = try sandbox.grant()
      try Files.replace(daemon.credential(), with: CredentialText.grant(grant, of: sandbox))
      try daemon.waitFor("authenticated")
      #expect(try daemon.token().secret == grant.accessToken)
    }
  }

  @Test("garbage over a grant that is held is set aside, and the file written anew from memory")
  func garbage() async throws {
    try await TestEnvironment.session { _, _, daemon in
      let token = try daemon.token()
      try Files.replace(daemon.credential(), with: "{garbage")
      try eventually("the file is whole again") { Files.text(daemon.credential()).contains(token.secret) }
      #expect(try daemon.status().state == "authenticated")
      #expect(Files.tree(daemon.credentials).contains { Files.text($0) == "{garbage" })
    }
  }

  @Test("a credential that others may read is narrowed")
  func permissions() async throws {
    try await TestEnvironment.session { _, _, daemon in
      try daemon.stop()
      try Files.setMode(daemon.credential(), 0o644)
      try daemon.start()
      try daemon.waitFor("authenticated")
      try eventually("it is narrowed") { Files.mode(daemon.credential()) == 0o600 }
    }
  }

  @Test("a link in the credential's place is not followed")
  func link() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      try Files.makeFolder(daemon.state)
      try Files.makeFolder(daemon.credentials)
      let target = "\(environment.folder)/target.json"
      let text = CredentialText.grant(try sandbox.grant(), of: sandbox)
      try Files.write(text, to: target)
      try Files.link(daemon.credential(), to: target)
      try daemon.start()
      try daemon.waitUntil("it was looked at") { $0.state != "hydrating" }
      #expect(try daemon.status().state != "authenticated")
      #expect(Files.text(target) == text)
      #expect(try sandbox.count("tokenCalls") == 0)
    }
  }
}

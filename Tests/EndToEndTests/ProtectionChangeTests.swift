import HearthControl
import TestSupport
import Testing

@Suite("The protection of a credential is changed", .serialized, .mayBlock) struct ProtectionChangeTests {
  private func reload(_ daemon: Daemon, _ sandbox: Sandbox, _ lines: String...) throws {
    try daemon.configure(Configuration.oidc(sandbox, lines.joined(separator: "\n")))
    try daemon.call("daemon.reload")
  }

  @Test("a key file that is configured seals what lies open, at once, also what another program writes, and back")
  func keyFile() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let token = try daemon.token()
      let refreshes = try sandbox.refreshes()
      let key = "\(environment.folder)/key"
      try Files.write(String(repeating: "k", count: 40), to: key)
      func isSealed() -> Bool {
        let text = Files.text(daemon.credential())
        return text.contains("\"key-file\"") && text.contains("\"sealed\"") && !text.contains("\"grant\"")
      }

      try reload(daemon, sandbox, "protection = \"key-file\"", "key_file = \"\(key)\"")
      try eventually("it is sealed") { isSealed() }
      #expect(!Files.text(daemon.credential()).contains(token.secret))
      #expect(try daemon.token().secret == token.secret)
      #expect(try sandbox.refreshes() == refreshes, "and no refresh was needed for that")

      let grant = try sandbox.grant()
      try Files.replace(daemon.credential(), with: CredentialText.grant(grant, of: sandbox))
      try eventually("what another program wrote is sealed") { isSealed() }
      #expect(try daemon.token().secret == grant.accessToken)

      try daemon.restart()
      try daemon.waitFor("authenticated")
      try reload(daemon, sandbox, "protection = \"none\"")
      let keyless = try daemon.waitUntil("it cannot be read") { !$0.credential.readable }
      #expect(keyless.state == "authenticated")
      #expect(keyless.credential.error?.contains("set key_file to it again") == true)
      #expect(try daemon.token().secret == grant.accessToken, "until it runs out")
      try reload(daemon, sandbox, "protection = \"none\"", "key_file = \"\(key)\"")
      try eventually("it lies open") {
        Files.text(daemon.credential()).contains(grant.accessToken)
      }
      try daemon.waitUntil("all is well") { $0.state == "authenticated" && $0.credential.readable }
      #expect(try daemon.token().secret == grant.accessToken)
    }
  }

  @Test("a passphrase that is configured is asked for, and seals what lies open as soon as it is set, and back")
  func passphrase() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let token = try daemon.token()

      try reload(daemon, sandbox, "protection = \"passphrase\"")
      let asking = try daemon.waitUntil("it asks for the passphrase") { $0.action == "unlock" }
      #expect(asking.state == "authenticated" && asking.credential.pendingWrite)
      #expect(asking.message.contains("hearthctl unlock work"))
      #expect(try daemon.token().secret == token.secret, "until then nothing is lost")
      try daemon.restart()
      try daemon.waitUntil("it asks again") { $0.state == "authenticated" && $0.action == "unlock" }
      let unlock = try environment.hearthctl(
        ["unlock", "work", "--passphrase-stdin", "--socket", daemon.socket], input: "open sesame\n")
      #expect(unlock.status == 0)
      try eventually("it is sealed") {
        let text = Files.text(daemon.credential())
        return text.contains("\"sealed\"") && !text.contains(token.secret)
      }
      try daemon.waitUntil("all is well") { $0.action == nil && !$0.credential.pendingWrite }

      try daemon.restart()
      try daemon.waitFor("locked", "passphraseRequired")
      try reload(daemon, sandbox, "protection = \"none\"")
      try daemon.waitFor("locked", "passphraseRequired")
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try eventually("it lies open") { Files.text(daemon.credential()).contains(token.secret) }
      #expect(try daemon.token().secret == token.secret)

      try reload(daemon, sandbox, "protection = \"passphrase\"")
      try daemon.waitUntil("it asks once more") { $0.action == "unlock" }
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try eventually("it is sealed again") { !Files.text(daemon.credential()).contains(token.secret) }
      try reload(daemon, sandbox, "protection = \"none\"")
      let held = try daemon.waitUntil("it asks for what opens it") { $0.action == "unlock" }
      #expect(held.state == "authenticated" && held.message.contains("hearthctl unlock work"))
      #expect(try daemon.token().secret == token.secret)
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try eventually("it lies open again") { Files.text(daemon.credential()).contains(token.secret) }
      try daemon.waitUntil("all is well") { $0.action == nil }
    }
  }
}

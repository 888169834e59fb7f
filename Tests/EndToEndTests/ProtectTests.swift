import HearthControl
import TestSupport
import Testing

/// From one protection to another, with the real programs: the same grant is there after each, and the session goes on.
@Suite("hearthctl protect", .serialized, .mayBlock) struct ProtectTests {
  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon

    func protect(_ words: String..., input: String? = nil) throws -> TestEnvironment.Run {
      try environment.hearthctl(
        ["protect", "work", "--with"] + words + (input == nil ? [] : ["--passphrase-stdin"]),
        environment: ["HEARTH_SOCKET": daemon.socket], input: input)
    }

    var token: JSON? { get throws { try daemon.call("session.getToken", ["account": "work"])["fingerprint"] } }

    /// What the credential file says that seals it, and whether the grant stands in it as plain text.
    var file: (protection: String?, isPlain: Bool) {
      get throws {
        let json = try JSON(parsing: Array(Files.text(daemon.credential()).utf8))
        return (json["protection"]?.string, json["grant"] != nil)
      }
    }
  }

  private func play(_ body: (Scene) throws -> Void) async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      try body(Scene(environment: environment, sandbox: sandbox, daemon: daemon))
    }
  }

  @Test("each protection follows each other one, and the session goes on with its token, after a restart too")
  func everyPair() async throws {
    try await play { scene in
      let token = try scene.token
      func expect(_ run: TestEnvironment.Run, _ protection: String) throws {
        #expect(run.status == 0, "\(run.errors)")
        #expect(try scene.file == (protection, protection == "none"))
        #expect(try scene.token == token)
      }
      let keyFile = scene.daemon.folder + "/work.key"
      try expect(try scene.protect("key-file"), "key-file")
      #expect(Files.mode(keyFile) == 0o600 && Files.text(keyFile).count == 65)
      try expect(try scene.protect("passphrase", input: "open sesame\n"), "passphrase")
      try expect(try scene.protect("none", input: "open sesame\n"), "none")
      try expect(try scene.protect("passphrase", input: "open sesame\n"), "passphrase")
      try expect(try scene.protect("key-file", input: "open sesame\n"), "key-file")
      try expect(try scene.protect("none"), "none")
      try expect(try scene.protect("passphrase", input: "open again\n"), "passphrase")
      try scene.daemon.restart()
      try scene.daemon.waitFor("locked", "passphraseRequired")
      try scene.daemon.call("session.unlock", ["account": "work", "passphrase": "open again"])
      #expect(try scene.token == token)
    }
  }

  @Test("a wrong passphrase, a lock and a key file that cannot be made change nothing")
  func refused() async throws {
    try await play { scene in
      #expect(try scene.protect("passphrase", input: "open sesame\n").status == 0)
      let text = Files.text(scene.daemon.configurationPath)
      let unasked = try scene.protect("none")
      #expect(unasked.status == 64 && unasked.errors.contains("--passphrase-stdin"), "\(unasked.errors)")
      let wrong = try scene.protect("none", input: "open\n")
      #expect(wrong.status == 4 && wrong.errors.contains("The passphrase is wrong."), "\(wrong.errors)")
      #expect(try scene.protect("passphrase", input: "other\n").errors.contains("already sealed with a passphrase"))
      let away = try scene.protect("key-file", "--key-file", "/nowhere/key", input: "open sesame\n")
      #expect(away.status == 1 && away.errors.contains("/nowhere/key: "))
      try scene.daemon.call("session.lock", ["account": "work"])
      let locked = try scene.protect("none", input: "open sesame\n")
      #expect(locked.status == 4 && locked.errors.contains("hearthctl unlock work"), "\(locked.errors)")
      #expect(Files.text(scene.daemon.configurationPath) == text)
      #expect(try scene.file == ("passphrase", false))
    }
  }

  @Test("where nothing is signed in yet, the passphrase is kept for the first sign-in")
  func signedOut() async throws {
    try await play { scene in
      try scene.daemon.call("session.signOut", ["account": "work"])
      #expect(try scene.protect("passphrase", input: "open sesame\n").status == 0)
      try scene.daemon.signIn(at: scene.sandbox)
      #expect(try scene.file == ("passphrase", false))
    }
  }
}

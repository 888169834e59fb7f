import HearthControl
import TestSupport
import Testing

@Suite("A credential file that cannot be understood", .serialized, .mayBlock) struct CorruptCredentialTests {
  @Test("journal and status say why it was set aside, with nothing of what stands in it; the newest is kept")
  func told() async throws {
    try await TestEnvironment.session { environment, _, daemon in
      let token = try daemon.token()
      func corrupt() -> [String] { Files.tree(daemon.credentials).filter { $0.contains(".corrupt-") } }

      // Over a grant that is held: only the journal tells.
      for number in 1...3 {
        let text = "{\"version\":1,\"grant\":{\"accessToken\":[\"s3cret-\(number)\"]}}"
        try Files.replace(daemon.credential(), with: text)
        try eventually("it is set aside") {
          let files = corrupt()
          return files.count == 1 && Files.text(files[0]).contains("s3cret-\(number)")
        }
        try eventually("and written anew") { Files.text(daemon.credential()).contains(token.secret) }
      }
      let why = "its field \"grant.accessToken\" has the wrong type"
      let journal = try #require(daemon.process?.errors)
      let line = "work's credential file is unreadable (\(why)) and was moved to \(corrupt()[0])."
      #expect(journal.contains(line))

      // Where none is held: the status tells, too, also after a restart.
      try daemon.stop()
      try Files.write("s3cret-4", to: daemon.credential())
      try daemon.start()
      for _ in 1...2 {
        let status = try daemon.waitFor("reauthRequired", "credentialCorrupt")
        #expect(
          status.message
            == "The credential cannot be understood (it is not JSON) and was moved to \(corrupt()[0]). "
            + "Run \"hearthctl login work\".")
        try daemon.restart()
      }
      for (path, text) in environment.output { #expect(!text.contains("s3cret"), "\(path)") }
      #expect(!Files.text(daemon.accounts).contains("s3cret"))

      try daemon.call("session.signOut", ["account": "work"])
      #expect(corrupt().isEmpty)
    }
  }
}

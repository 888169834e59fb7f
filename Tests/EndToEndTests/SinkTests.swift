import Glibc
import HearthControl
import TestSupport
import Testing

/// The real daemon and command line keep files that hold a token.
@Suite("Token files", .serialized, .mayBlock) struct SinkTests {
  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon
    let folder: String
    var path: String { folder + "/token" }

    func configuration(_ sinks: String...) -> String {
      EndToEndTests.Configuration.oidc(sandbox) + sinks.map { "\n[[accounts.work.sinks]]\n\($0)\n" }.joined()
    }

    var sink: String { "path = \"\(path)\"" }

    /// Also what is hidden.
    var names: [String] { Files.names(in: folder) }

    func hearthctl(_ line: String...) throws -> TestEnvironment.Run { try hearthctl(line) }

    func hearthctl(_ line: [String]) throws -> TestEnvironment.Run {
      try environment.hearthctl(
        line, environment: ["HEARTH_SOCKET": daemon.socket, "HEARTH_CONFIG": daemon.configurationPath])
    }

    func isInPlace() throws {
      try eventually("the file holds the token") { Files.text(path) == (try daemon.token().secret) }
    }

    func isGone() throws { try eventually("the file is gone") { !Files.exists(path) } }
  }

  /// An account with a sink, signed in unless said otherwise.
  private func play(_ signsIn: Bool = true, options: String..., body: (Scene) throws -> Void) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try Sandbox(on: environment, name: "sandbox", options: options)
      let daemon = try Daemon(on: environment, configuration: "")
      let folder = environment.folder + "/sinks"
      try Files.makeFolder(folder)
      let scene = Scene(environment: environment, sandbox: sandbox, daemon: daemon, folder: folder)
      try daemon.configure(scene.configuration(scene.sink))
      try daemon.start()
      if signsIn {
        try daemon.signIn(at: sandbox)
        try scene.isInPlace()
      }
      try body(scene)
    }
  }

  @Test("a token appears at sign-in, for its user alone, and each refresh replaces the file whole")
  func refreshed() async throws {
    try await play(false) { scene in
      #expect(scene.names.isEmpty)
      try scene.daemon.signIn(at: scene.sandbox)
      #expect(Files.text(scene.path) == (try scene.daemon.token().secret), "when the sign-in is answered")
      #expect(Files.mode(scene.path) == 0o600 && scene.names == ["token"])
      let old = try scene.daemon.token().secret
      let reader = open(scene.path, O_RDONLY)
      defer { close(reader) }
      try scene.daemon.refresh()
      #expect(Files.text(scene.path) == (try scene.daemon.token().secret), "when the refresh is answered")
      #expect(try scene.daemon.token().secret != old)
      var (before, now) = (stat(), stat())
      fstat(reader, &before)
      stat(scene.path, &now)
      #expect(before.st_ino != now.st_ino)
      var bytes = [UInt8](repeating: 0, count: old.utf8.count + 1)
      let count = read(reader, &bytes, bytes.count)
      #expect(String(decoding: bytes[..<max(count, 0)], as: UTF8.self) == old, "an open file is the old one, whole")
    }
  }

  @Test("the file is gone when lock and logout have ended, and back when unlock has")
  func locked() async throws {
    try await play { scene in
      #expect(try scene.hearthctl("lock", "work").status == 0)
      #expect(scene.names.isEmpty, "without waiting")
      #expect(try scene.hearthctl("unlock", "work").status == 0)
      try scene.isInPlace()
      #expect(try scene.hearthctl("logout", "work").status == 0)
      #expect(scene.names.isEmpty)
    }
  }

  @Test("a daemon that stops leaves no file, and one that starts puts it back before it is ready")
  func stopped() async throws {
    try await play { scene in
      try scene.daemon.stop()
      #expect(scene.names.isEmpty)
      try scene.daemon.start()
      try scene.isInPlace()
    }
  }

  @Test("what kill -9 has left is replaced at the next start")
  func crashed() async throws {
    try await play { scene in
      try scene.daemon.crash()
      let left = Files.text(scene.path)
      #expect(!left.isEmpty)
      try Files.write("half", to: scene.folder + "/.token.hearth-new")
      try Files.write("changed", to: scene.path)
      try scene.daemon.start()
      try scene.isInPlace()
      #expect(scene.names == ["token"])
    }
  }

  @Test("what somebody has put in its place after kill -9 is neither replaced nor removed")
  func exchangedAfterCrash() async throws {
    try await play { scene in
      try scene.daemon.crash()
      try Files.replace(scene.path, with: "mine")
      try scene.daemon.start()
      #expect(try scene.hearthctl("lock", "work").status == 0)
      #expect(Files.text(scene.path) == "mine")
    }
  }

  @Test("what kill -9 has left is removed where the session cannot be used at the next start")
  func crashedAndLocked() async throws {
    try await TestEnvironment.run(unprivileged: true) { environment in
      let sandbox = try environment.sandbox()
      let folder = environment.folder + "/sinks"
      try Files.makeFolder(folder, owner: environment.user)
      let path = folder + "/token"
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox) + "\n[[accounts.work.sinks]]\npath = \"\(path)\"\n")
      try daemon.signIn(at: sandbox)
      try eventually("the file is there") { Files.exists(path) }
      try daemon.crash()
      #expect(Files.exists(path))
      try Files.setMode(daemon.credential(), 0)
      try daemon.start()
      try daemon.waitFor("locked", "permissionDenied")
      try eventually("the file is gone") { !Files.exists(path) }
      try Files.setMode(daemon.credential(), 0o600)
      try daemon.waitFor("authenticated")
      try eventually("the file is back") { Files.exists(path) }
    }
  }

  @Test("what kill -9 has left is removed where the configuration names it no more")
  func crashedAndRemoved() async throws {
    try await play { scene in
      try scene.daemon.crash()
      try scene.daemon.configure(scene.configuration())
      try scene.daemon.start()
      try scene.isGone()
    }
  }

  @Test("an expired token does not stay where no new one can be had")
  func expired() async throws {
    try await play(options: "--token-lifetime", "4") { scene in
      try scene.sandbox.stop()
      try scene.isGone()
      try scene.daemon.waitFor("authenticated")
    }
  }

  @Test("a reload adds and removes files without disturbing the session, and puts back what was deleted or changed")
  func reloaded() async throws {
    try await play { scene in
      let token = try scene.daemon.token().secret
      let other = scene.folder + "/other"
      try scene.daemon.configure(
        scene.configuration(scene.sink, "path = \"\(other)\"\nformat = \"header\"\nmode = \"0640\""))
      try Files.remove(scene.path)
      try scene.daemon.call("daemon.reload")
      #expect(Files.text(scene.path) == token && Files.text(other) == "Authorization: Bearer \(token)\n")
      #expect(Files.mode(other) == 0o640)
      #expect(try scene.daemon.token().secret == token)
      try scene.daemon.configure(scene.configuration("path = \"\(other)\"\nformat = \"json\""))
      try scene.daemon.call("daemon.reload")
      let json = try JSON(parsing: Files.read(other) ?? [])
      #expect(json["accessToken"]?.string == token && json["account"] == "work" && json["expiresAt"]?.string != nil)
      #expect(scene.names == ["other"] && Files.mode(other) == 0o600)
      try scene.daemon.configure(EndToEndTests.Configuration.oidc(scene.sandbox, account: "home"))
      try scene.daemon.call("daemon.reload")
      #expect(scene.names.isEmpty, "the account is gone")
    }
  }

  @Test("a file of somebody else's is left alone, told once with what to do, and the session goes on")
  func occupied() async throws {
    try await play(false) { scene in
      try Files.write("mine", to: scene.path)
      try scene.daemon.signIn(at: scene.sandbox)
      let doctor = try eventually("the doctor tells") {
        let run = try scene.hearthctl("doctor")
        return run.output.contains("\(scene.path) was not written by Hearth") ? run : nil
      }
      let list = try scene.hearthctl("sink", "list")
      #expect(list.output.contains("cannot be written: run \"hearthctl doctor\""))
      #expect(doctor.status == 1)
      #expect(try scene.daemon.status().state == "authenticated" && Files.text(scene.path) == "mine")
      #expect(try scene.hearthctl("logout", "work").status == 0)
      #expect(Files.text(scene.path) == "mine")
      try scene.daemon.stop()
      #expect(Files.text(scene.path) == "mine")
      let log = try #require(scene.daemon.process).errors
      #expect(log.split(separator: "was not written by Hearth").count == 2, "\(log)")
    }
  }

  @Test(
    "a full disk is told once and disturbs nothing, and the file is there when there is room",
    .enabled(if: SmallDisk.isPossible, "a small disk needs a mount namespace, which cannot be had here"))
  func full() async throws {
    try await play(false) { scene in
      // Only the daemon sees what is on it.
      let disk = try SmallDisk(on: scene.environment, over: scene.folder, size: "64k")
      try scene.daemon.stop()
      scene.daemon.launcher = disk.launcher
      try scene.daemon.start()
      func doctorSays(_ sentence: String) throws {
        try eventually("the doctor says: \(sentence)") {
          try scene.hearthctl("doctor", "--all").output.contains(sentence)
        }
      }
      try scene.daemon.signIn(at: scene.sandbox)
      try doctorSays("\(scene.path) contains token \(scene.daemon.token().fingerprint).")
      try disk.fill()
      // The shell beside the daemon takes its time.
      try eventually("nothing has room any more") {
        try scene.daemon.refresh()
        return try scene.hearthctl("doctor").output.contains(
          "There is no space left to write \(scene.path). Free some "
            + "disk space.")
      }
      #expect(try scene.daemon.status().state == "authenticated")
      // Another attempt, which has failed when this is answered.
      try scene.daemon.call("daemon.reload")
      try disk.free()
      try doctorSays("\(scene.path) contains token \(scene.daemon.token().fingerprint).")
      try scene.daemon.stop()
      let log = try #require(scene.daemon.process).errors
      #expect(log.split(separator: "There is no space left to write").count == 2, "told once")
    }
  }

  @Test("sink add, list and remove change the configuration, and the daemon follows")
  func verbs() async throws {
    try await play { scene in
      let (header, before) = (scene.folder + "/header", Files.text(scene.daemon.configurationPath))
      let added = try scene.hearthctl("sink", "add", "work", header, "--format", "header", "--mode", "0640")
      #expect(added.status == 0 && added.errors == "" && added.output.contains("file contains a token"))
      #expect(
        Files.text(scene.daemon.configurationPath) == before + """

          [[accounts.work.sinks]]
          path = "\(header)"
          format = "header"
          mode = "0640"

          """)
      #expect(Files.text(header).hasPrefix("Authorization: Bearer "))
      let list = try scene.hearthctl("sink", "list")
      #expect(list.output.contains("\(header)") && list.output.contains("0640  contains a token"))
      let json = try JSON(parsing: Array(scene.hearthctl("sink", "list", "--json").output.utf8))
      #expect(json["sinks"]?.array?.count == 2 && json["sinks"]?[1]?["inPlace"] == true)
      #expect(json["sinks"]?[1]?["format"] == "header" && json["sinks"]?[1]?["state"] == "authenticated")
      #expect(try scene.hearthctl("lock", "work").status == 0)
      #expect(try scene.hearthctl("sink", "list").output.contains("missing: locked"))
      let removed = try scene.hearthctl("sink", "remove", "work", header)
      #expect(removed.status == 0 && removed.output.hasSuffix("\(header) was removed.\n"), "\(removed)")
      #expect(Files.text(scene.daemon.configurationPath) == before)
      #expect(try scene.hearthctl("sink", "remove", "work", header).status == 1)
    }
  }

  @Test("a netrc file has the token next to the user's lines, and no longer once the sink is gone, even after kill -9")
  func netrc() async throws {
    try await play { scene in
      let (path, mine) = (scene.folder + "/netrc", "machine other.example.com login me password mine\n")
      try Files.write(mine, to: path)
      func holds(_ token: String) -> Bool {
        Files.text(path) == "#hearthd:work\nmachine 127.0.0.1 login oauth2 password \(token)\n" + mine
      }
      #expect(
        try scene.hearthctl("sink", "add", "work", path, "--format", "netrc").output.contains("file contains a token")
      )
      #expect(holds(try scene.daemon.token().secret))
      try scene.daemon.refresh()
      #expect(holds(try scene.daemon.token().secret))
      #expect(try scene.hearthctl("lock", "work").status == 0)
      #expect(Files.text(path) == mine)
      #expect(try scene.hearthctl("sink", "list").output.contains("missing: locked"))
      #expect(try scene.hearthctl("unlock", "work").status == 0)
      try scene.daemon.crash()
      #expect(Files.text(path) != mine)
      try scene.daemon.configure(scene.configuration(scene.sink))
      try scene.daemon.start()
      try eventually("only the user's lines are left") { Files.text(path) == mine }
    }
  }

  @Test("a file that is written in place stays the same file through refresh, lock and restart")
  func inPlace() async throws {
    try await play { scene in
      let path = scene.folder + "/mounted"
      try Files.write("", to: path)
      let reader = open(path, O_RDONLY)
      defer { close(reader) }
      func text() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        return String(decoding: bytes[..<max(pread(reader, &bytes, bytes.count, 0), 0)], as: UTF8.self)
      }
      #expect(try scene.hearthctl("sink", "add", "work", path, "--in-place").output.contains("file contains a token"))
      #expect(text() == (try scene.daemon.token().secret))
      try scene.daemon.refresh()
      #expect(text() == (try scene.daemon.token().secret))
      #expect(try scene.hearthctl("lock", "work").status == 0)
      #expect(text() == "")
      #expect(try scene.hearthctl("unlock", "work").status == 0)
      try eventually("the token is back") { text() == (try scene.daemon.token().secret) }
      try scene.daemon.stop()
      #expect(text() == "")
      try scene.daemon.start()
      try eventually("the token is back") { text() == (try scene.daemon.token().secret) }
      let removed = try scene.hearthctl("sink", "remove", "work", path)
      #expect(removed.output.hasSuffix("\(path) no longer contains a token of work.\n") && text() == "")
    }
  }

  @Test("sink add refuses what cannot be, with one sentence, and writes nothing")
  func refused() async throws {
    try await play { scene in
      let before = Files.text(scene.daemon.configurationPath)
      try Files.write("mine", to: scene.folder + "/mine")
      func refusal(_ line: String...) throws -> String {
        let run = try scene.hearthctl(["sink", "add"] + line)
        #expect(run.status != 0 && run.output == "" && Files.text(scene.daemon.configurationPath) == before)
        return run.errors
      }
      #expect(try refusal("work", scene.folder + "/mine").contains("already exists"))
      #expect(try refusal("work", scene.path).contains("is already a token file of work"))
      #expect(try refusal("work", scene.daemon.state + "/x").contains("that is the state folder. Nothing was written."))
      #expect(try refusal("work", scene.folder + "/no/token").contains("mkdir -p -m 700"))
      #expect(try refusal("home", scene.folder + "/x").contains("There is no account home"))
      #expect(try refusal("work", scene.folder + "/x", "--mode", "0666").contains("must be a mode like \"0600\""))
      #expect(try refusal("work", scene.folder + "/x", "--format", "xml").contains("\"json\" or \"netrc\""))
    }
  }
}

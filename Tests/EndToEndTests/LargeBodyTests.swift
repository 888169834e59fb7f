import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("Bodies of any length", .serialized, .mayBlock) struct LargeBodyTests {
  /// Many times what a program may take for it.
  private static let size = 32 << 20
  /// In bytes; what a debug build of hearthctl has for data by itself is about half of it.
  private static let allowance = 48 << 20

  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon
    let folder: String

    var blob: String { sandbox.url + "/api/blob" }

    func line(_ words: [String]) -> [String] { ["request", "work"] + words + ["--socket", daemon.socket] }

    func run(_ words: String...) throws -> TestEnvironment.Run { try environment.hearthctl(line(words)) }

    func spawn(launcher: [String] = [], _ words: String...) throws -> ChildProcess {
      try environment.spawn("hearthctl", line(words), launcher: launcher)
    }

    /// What a program of the shell prints of the rest of its line, which is `"$@"`.
    func shell(_ script: String, _ words: String...) throws -> ChildProcess {
      try environment.spawn("hearthctl", line(words), launcher: ["/bin/sh", "-c", script, "sh"])
    }

    /// Waits for as long as it or the daemon computes: a shell of which it is a part does not.
    func end(of process: ChildProcess) throws -> ChildProcess.End {
      try process.wait(while: [daemon.process].compactMap(\.self))
    }

    /// Those in the folder of the files that are written.
    var files: [String] { Files.names(in: folder).sorted() }
    func size(_ name: String) -> Int {
      var status = stat()
      return stat("\(folder)/\(name)", &status) == 0 ? Int(status.st_size) : -1
    }
  }

  private func scene(
    _ configuration: (Sandbox) -> String = { Configuration.oidc($0) }, _ body: (Scene) throws -> Void
  ) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try environment.daemon(configuration(sandbox) + Configuration.impatient)
      try daemon.signIn(at: sandbox)
      let folder = "\(environment.folder)/files"
      try Files.makeFolder(folder)
      try body(Scene(environment: environment, sandbox: sandbox, daemon: daemon, folder: folder))
    }
  }

  /// With another API beside the sandbox's.
  private static func configuration(_ sandbox: Sandbox, _ api: RawServer) -> String {
    Configuration.oidc(sandbox).replacing(
      "api_origins = [\"\(sandbox.url)\"]", with: "api_origins = [\"\(sandbox.url)\", \"\(api.url)\"]")
  }

  /// The most that the process ever had in memory, in bytes (proc_pid_status(5)).
  private func peak(of process: ChildProcess?) throws -> Int {
    let pid = try #require(process?.pid)
    let line = Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) << 10
  }

  /// A file with other bytes at each place.
  private func makeFile(_ path: String, _ size: Int) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var random = SeededGenerator(seed: 7)
    let block = (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) }
    for start in stride(from: 0, to: size, by: block.count) {
      let count = min(block.count, size - start)
      guard write(descriptor, block, count) == count else { throw CallFailure("write \(path)") }
      _ = withUnsafeBytes(of: start) { pwrite(descriptor, $0.baseAddress, min($0.count, count), off_t(start)) }
      lseek(descriptor, 0, SEEK_END)
    }
  }

  private func digest(_ scene: Scene, _ path: String) throws -> String {
    let sum = try scene.environment.spawn("hearthctl", [], launcher: ["/bin/sh", "-c", "exec sha256sum \(path)", "sh"])
    try sum.wait()
    return String(sum.output.prefix(64))
  }

  private func received(_ bytes: Int, _ digest: String) -> String { #"{"bytes":\#(bytes),"sha256":"\#(digest)"}"# }

  // MARK: - Both ways

  @Test("a file goes and comes whole, and neither program takes more memory for it")
  func bothWays() async throws {
    try await scene { scene in
      // What the first call of its kind brings into memory is there then.
      let path = "\(scene.folder)/file"
      #expect(try scene.run("GET", scene.blob + "?bytes=1000000", "-o", path).status == 0)
      #expect(try scene.run("PUT", scene.blob, "--data", "@\(path)").status == 0)
      let before = try peak(of: scene.daemon.process)
      let bounded = "ulimit -d \(Self.allowance >> 10); exec \"$@\""

      let get = try scene.shell(bounded, "GET", scene.blob + "?bytes=\(Self.size)", "-o", path)
      #expect(try scene.end(of: get) == .exited(0), "\(get.errors)")
      #expect(scene.size("file") == Self.size)
      let put = try scene.shell(bounded, "PUT", scene.blob, "--data", "@\(path)")
      #expect(try scene.end(of: put) == .exited(0), "\(put.errors)")
      #expect(try put.output == received(Self.size, digest(scene, path)))

      let after = try peak(of: scene.daemon.process)
      #expect(after - before < 8 << 20, "\(before >> 10) KiB, then \(after >> 10) KiB")
    }
  }

  @Test("a pipe goes whole, with its length where it is short, and to standard output an answer comes whole")
  func pipes() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      for size in [0, 1000, 1 << 20, (1 << 20) + 1, 3 << 20] {
        try makeFile(path, size)
        let wanted = try received(size, digest(scene, path))
        let put = try scene.shell("cat \(path) | \"$@\"", "PUT", scene.blob, "--data", "-")
        #expect(try scene.end(of: put) == .exited(0), "\(size): \(put.errors)")
        #expect(put.output == wanted, "\(size)")
      }
      let get = try scene.shell("\"$@\" | sha256sum", "GET", scene.blob + "?bytes=3000000")
      #expect(try scene.end(of: get) == .exited(0))
      #expect(try scene.run("GET", scene.blob + "?bytes=3000000", "-o", path).status == 0)
      #expect(try String(get.output.prefix(64)) == digest(scene, path))
    }
  }

  @Test("an answer that needs no body of the request is given, and the rest of the file is not sent")
  func early() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      try makeFile(path, 16 << 20)
      try scene.sandbox.fault(["path": "/api/blob", "status": 413, "body": "too big", "times": 1])
      let run = try scene.run("PUT", scene.blob, "--data", "@\(path)")
      #expect(run.status == 1 && run.output == "too big", "\(run.errors)")
      #expect(run.errors == "hearthctl: The API answered 413.\n")
    }
  }

  // MARK: - Once more

  @Test("after a 401 a file is sent again, with the token of the one refresh, and so is a short pipe")
  func rewind() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      try makeFile(path, 3 << 20)
      let wanted = try received(3 << 20, digest(scene, path))
      try scene.sandbox.expire()
      try scene.sandbox.forgetStats()
      let run = try scene.run("PUT", scene.blob, "--data", "@\(path)")
      #expect(run.status == 0 && run.output == wanted, "\(run.errors)")
      #expect(try scene.sandbox.count("tokenCalls") == 1)

      try makeFile(path, 1000)
      let short = try received(1000, digest(scene, path))
      try scene.sandbox.expire()
      let put = try scene.shell("cat \(path) | \"$@\"", "PUT", scene.blob, "--data", "-")
      #expect(try scene.end(of: put) == .exited(0), "\(put.errors)")
      #expect(put.output == short)
    }
  }

  @Test("a pipe of which too much was sent cannot be sent again, which is said, and the token is renewed all the same")
  func noRewind() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      try makeFile(path, 3 << 20)
      try scene.sandbox.expire()
      try scene.sandbox.forgetStats()
      let put = try scene.shell("cat \(path) | \"$@\"", "PUT", scene.blob + "?late=1", "--data", "-")
      #expect(try scene.end(of: put) == .exited(5))
      #expect(
        put.errors.hasPrefix("hearthctl: The body must be sent again, for example after a token refresh, but"),
        "\(put.errors)")
      #expect(try scene.sandbox.count("tokenCalls") == 1)
      #expect(try scene.sandbox.count("apiRequests") == 1, "one without the rest of its body is of no use")
      let again = try scene.shell("cat \(path) | \"$@\"", "PUT", scene.blob + "?late=1", "--data", "-")
      #expect(try scene.end(of: again) == .exited(0), "\(again.errors)")
    }
  }

  // MARK: - Not whole

  @Test("an answer that breaks off leaves the file as it was, and so does one that is given up, or locked meanwhile")
  func notWhole() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      try Files.write("as it was", to: path)
      func isAsItWas(_ what: String) {
        #expect(scene.files == ["file"], "\(what)")
        #expect(Files.text(path) == "as it was", "\(what)")
      }
      let cut = try scene.run("GET", scene.blob + "?bytes=3000000&cut=2000000", "-o", path)
      #expect(cut.status == 5)
      #expect(
        cut.errors.contains(
          "the connection closed before the response was complete. Only part of the response "
            + "was received."))
      isAsItWas("broken off")

      /// Ends what has got as much as there is, in this way.
      func stalled(_ end: (ChildProcess) throws -> Void) throws -> (end: ChildProcess.End, errors: String) {
        let get = try scene.spawn("GET", scene.blob + "?bytes=3000000&stall=2000000", "-o", path)
        try eventually("it has got so much") { scene.files.contains { scene.size($0) == 2_000_000 } }
        try end(get)
        return (try get.wait(), get.errors)
      }
      for number in [SIGINT, SIGTERM, SIGHUP] {
        #expect(try stalled { $0.signal(number) }.end == .killed(by: number))
        isAsItWas("ended by \(number)")
      }
      let locked = try stalled { _ in try scene.daemon.call("session.lock") }
      #expect(locked.end == .exited(4) && locked.errors == "hearthctl: Locked. Run \"hearthctl unlock work\".\n")
      isAsItWas("locked")
      try scene.daemon.call("session.unlock")
      try scene.daemon.waitFor("authenticated")
      let out = try stalled { _ in try scene.daemon.call("session.signOut", ["account": "work"]) }
      #expect(out.end == .exited(3), "\(out.errors)")
      isAsItWas("signed out")
      try scene.daemon.signIn(at: scene.sandbox)
      let stopped = try stalled { _ in
        let end = try scene.daemon.stop()
        #expect(end == .exited(0))
      }
      #expect(stopped.end == .exited(5) && stopped.errors == "hearthctl: The daemon is shutting down.\n")
      isAsItWas("stopped")
    }
  }

  @Test("an API that stops in the middle is given up when nothing has come for --timeout")
  func stalled() async throws {
    try await scene { scene in
      let path = "\(scene.folder)/file"
      let run = try scene.run("GET", scene.blob + "?bytes=3000000&stall=2000000", "-o", path, "--timeout", "10")
      #expect(run.status == 5 && scene.files == [])
      #expect(run.errors.contains("the rest of the response did not arrive within 10.0 seconds"), "\(run.errors)")
    }
  }

  @Test("where the client goes away, the API's connection is closed, without the end of a body that had none")
  func clientGone() async throws {
    let api = try RawServer()
    try await scene({ Self.configuration($0, api) }) { scene in
      let client = try RawClient(path: scene.daemon.socket)
      client.call(
        1, "http.open", ["account": "work", "method": "PUT", "url": .string(api.url + "/"), "chunked": true])
      let stream = try #require(client.receive()?["result"]?["stream"])
      client.call(2, "http.write", ["stream": stream, "offset": 0, "data": "aGVsbG8="])
      #expect(try client.receive()?["result"]?["next"] == 5)
      let connection = try api.accept()
      _ = try connection.readHead()
      // A call that waits for the API is no reason to go on.
      client.call(3, "http.read", ["stream": stream])
      client.close()
      #expect(try connection.read(.max) == Array("5\r\nhello\r\n".utf8))
      #expect(try scene.run("GET", scene.blob + "?bytes=10").status == 0)
    }
  }

  // MARK: - Who is slow

  /// Tells that the memory of the daemon has not grown for many looks.
  private func waitUntilStill(_ scene: Scene) throws {
    var (last, looks) = (0, 0)
    try eventually("the daemon takes no more", while: { last }) {
      let now = try peak(of: scene.daemon.process)
      looks = now == last ? looks + 1 : 0
      last = now
      return looks > 50
    }
  }

  @Test("a client that does not read, and an API that does not, take nothing of the daemon but a few pieces")
  func slow() async throws {
    let api = try RawServer()
    try await scene({ Self.configuration($0, api) }) { scene in
      let path = "\(scene.folder)/file"
      #expect(try scene.run("GET", scene.blob + "?bytes=1000000", "-o", path).status == 0)
      #expect(try scene.run("PUT", scene.blob, "--data", "@\(path)").status == 0)
      let before = try peak(of: scene.daemon.process)
      let gets = try (0..<4).map { number in
        let get = try scene.spawn("GET", scene.blob + "?bytes=\(1 << 30)", "-o", path + "\(number)")
        try eventually("it reads") { scene.files.contains { $0.hasPrefix(".") && scene.size($0) > 0 } }
        try get.freeze()
        return get
      }
      try makeFile(path, 64 << 20)
      let put = try scene.spawn("PUT", api.url + "/", "--data", "@\(path)")
      let connection = try api.accept()
      _ = try connection.readHead()
      try waitUntilStill(scene)
      let after = try peak(of: scene.daemon.process)
      #expect(after - before < 24 << 20, "\(before >> 10) KiB, then \(after >> 10) KiB")
      // Nobody else waits for them.
      #expect(try scene.run("GET", scene.blob + "?bytes=10").status == 0)
      for process in gets + [put] { process.kill() }
      connection.close()
    }
  }
}

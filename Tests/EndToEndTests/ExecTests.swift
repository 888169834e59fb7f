import Glibc
import HearthControl
import TestSupport
import Testing

/// The real `hearthctl exec`, with programs that say what they see and wait at a terminal.
@Suite("hearthctl exec", .serialized, .mayBlock) struct ExecTests {
  private struct Scene {
    let environment: TestEnvironment
    let sandbox: Sandbox
    let daemon: Daemon
    let terminal = PseudoTerminal()

    var runtime: String { environment.folder + "/run" }

    /// Starts a script; its standard input is the terminal.
    func exec(_ script: String, options: [String] = [], launcher: [String] = []) throws -> ChildProcess {
      try environment.spawn(
        "hearthctl", ["exec", "work"] + options + ["--", "/bin/sh", "-c", script],
        environment: ["HEARTH_SOCKET": daemon.socket, "XDG_RUNTIME_DIR": runtime], launcher: launcher,
        terminal: terminal)
    }

    /// The words of the first line that it writes.
    func words(of process: ChildProcess) throws -> [String] {
      try eventually("the program writes a line") {
        let lines = process.output.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count > 1 ? lines[0].split(separator: " ").map(String.init) : nil
      }
    }

    var isEmpty: Bool { Files.names(in: runtime).isEmpty }
  }

  private func play(_ body: (Scene) throws -> Void) async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      let scene = Scene(environment: environment, sandbox: sandbox, daemon: daemon)
      try Files.makeFolder(scene.runtime)
      try body(scene)
    }
  }

  @Test("the program finds a file with the token, which follows refreshes, locks and restarts, and is gone after it")
  func file() async throws {
    try await play { scene in
      let process = try scene.exec("echo $HEARTH_TOKEN_FILE; read word; cat $HEARTH_TOKEN_FILE; exit 7")
      let path = try #require(try scene.words(of: process).first)
      #expect(path.hasPrefix(scene.runtime + "/"))
      #expect(try Files.text(path) == scene.daemon.token().secret, "it is there before the program is")
      #expect(Files.mode(path).map { $0 & 0o7777 } == 0o600)
      func waitForToken() throws {
        let token = try scene.daemon.token().secret
        try eventually("the file has the new token") { Files.text(path) == token }
      }
      // It may begin to follow after the first refresh.
      try scene.daemon.refresh()
      try waitForToken()
      try scene.daemon.refresh()
      try waitForToken()
      try scene.daemon.call("session.lock")
      try eventually("a lock takes it away") { !Files.exists(path) }
      try scene.daemon.call("session.unlock")
      try waitForToken()
      try scene.daemon.restart()
      try scene.daemon.waitFor("authenticated")
      try scene.daemon.refresh()
      try waitForToken()
      scene.terminal.type("go")
      #expect(try process.waitForExit() == 7)
      #expect(try process.output.hasSuffix("\n" + scene.daemon.token().secret))
      #expect(scene.isEmpty)
    }
  }

  @Test("the file is gone when a signal has ended the program, and its status says which")
  func killedProgram() async throws {
    try await play { scene in
      for (number, status) in [(SIGTERM, 143), (SIGKILL, 137)] as [(Int32, Int32)] {
        let process = try scene.exec("echo $$; exec sleep 1000")
        let program = try #require(try scene.words(of: process).first.flatMap { Int32($0) })
        kill(program, number)
        #expect(try process.waitForExit() == status)
        #expect(scene.isEmpty)
      }
    }
  }

  @Test("where hearthctl itself is killed, the file stays fresh for the program, and is gone after it")
  func killedCommand() async throws {
    try await play { scene in
      let process = try scene.exec("echo $$ $HEARTH_TOKEN_FILE; exec sleep 1000")
      let words = try scene.words(of: process)
      // When the file has followed once, somebody keeps it.
      for killing in [false, true] {
        if killing { process.kill() }
        try scene.daemon.refresh()
        let token = try scene.daemon.token().secret
        try eventually("the file has the new token") { Files.text(words[1]) == token }
      }
      kill(try #require(Int32(words[0])), SIGTERM)
      try eventually("the file is gone") { scene.isEmpty }
    }
  }

  @Test("a file whose refresher is killed goes with the program; if hearthctl is killed too, the next exec removes it")
  func killedRefresher() async throws {
    try await play { scene in
      let running = try scene.exec("echo $HEARTH_TOKEN_FILE; exec sleep 1000")
      let path = try scene.words(of: running)[0]
      for isCommandKilled in [false, true] {
        let process = try scene.exec("echo $$; exec sleep 1000")
        let program = try #require(Int32(try scene.words(of: process)[0]))
        let refresher = try eventually("a process refreshes it") {
          Files.names(in: "/proc").compactMap { Int32($0) }.first {
            $0 != program && Files.text("/proc/\($0)/status").contains("\nPPid:\t\(process.pid)\n")
          }
        }
        kill(refresher, SIGKILL)
        if isCommandKilled { process.kill() }
        kill(program, SIGTERM)
        if isCommandKilled {
          #expect(Files.names(in: scene.runtime).count == 2)
          #expect(try scene.exec("true").waitForExit() == 0)
        } else {
          #expect(try process.waitForExit() == 143)
        }
        #expect(Files.names(in: scene.runtime).count == 1 && Files.exists(path), "the one in use stays")
      }
      running.signal(SIGTERM)
      #expect(try running.waitForExit() == 143)
    }
  }

  @Test("the program has the limit of core dumps that the caller has")
  func coreLimit() async throws {
    try await play { scene in
      let shown = "ulimit -S -c; ulimit -H -c"
      let process = try scene.exec(
        shown, launcher: ["/bin/sh", "-c", "ulimit -S -c $(ulimit -H -c); \(shown); exec \"$@\"", "sh"])
      #expect(try process.waitForExit() == 0)
      let lines = process.output.split(separator: "\n")
      #expect(lines.count == 4 && lines[..<2] == lines[2...])
    }
  }

  @Test("signals that hearthctl is sent reach the program, and it ends as the program does")
  func signals() async throws {
    try await play { scene in
      let process = try scene.exec(
        "trap 'echo hup' HUP; trap 'exit 3' TERM; echo ready; until read word || ! kill -0 $PPID; do :; done")
      #expect(try scene.words(of: process) == ["ready"])
      process.signal(SIGHUP)
      try eventually("the program has got it") { process.output.hasSuffix("hup\n") }
      process.signal(SIGTERM)
      #expect(try process.waitForExit() == 3)
    }
  }

  @Test("with --env the variable has the token of then; it is in no arguments, and in no file")
  func variable() async throws {
    try await play { scene in
      let process = try scene.exec(
        "echo $API_TOKEN:$HEARTH_TOKEN_FILE; read word", options: ["--env", "API_TOKEN"])
      let token = try scene.daemon.token().secret
      #expect(try scene.words(of: process) == [token + ":"])
      let lines = Files.names(in: "/proc").map { Files.text("/proc/\($0)/cmdline") }
      #expect(lines.contains { $0.contains("API_TOKEN") } && !lines.contains { $0.contains(token) })
      #expect(scene.isEmpty)
      scene.terminal.type("go")
      #expect(try process.waitForExit() == 0)
    }
  }

  @Test("a pipe that the program lets go of ends, though the program runs on")
  func pipes() async throws {
    try await play { scene in
      let process = try scene.exec(
        "echo $FILE; exec >&-; read word; test -s $FILE", options: ["--file-env", "FILE"],
        launcher: ["/bin/sh", "-c", "\"$@\" | { cat; echo ended; }", "sh"])
      try eventually("the pipe has ended") { process.output.hasSuffix("/token\nended\n") }
      #expect(!scene.isEmpty, "the program waits at the terminal")
      scene.terminal.type("go")
      #expect(try process.waitForExit() == 0)
      try eventually("the file is gone") { scene.isEmpty }
    }
  }

  @Test("what cannot be run is 127 or 126; without a token nothing is run, and the status is hearthctl's")
  func failures() async throws {
    try await play { scene in
      func status(_ program: String, _ variables: [String: String] = [:]) throws -> Int32 {
        let own = ["HEARTH_SOCKET": scene.daemon.socket, "XDG_RUNTIME_DIR": scene.runtime]
        let run = try scene.environment.hearthctl(
          ["exec", "--", program], environment: own.merging(variables) { $1 })
        #expect(run.status == 0 || run.errors.hasPrefix("hearthctl: "))
        #expect(scene.isEmpty)
        return run.status
      }
      #expect(try status("/bin/true") == 0, "the only account is the default one")
      #expect(try status("no-such-program") == 127)
      #expect(try status("/etc/passwd") == 126)
      #expect(try status("/bin/true", ["XDG_RUNTIME_DIR": scene.runtime + "/none"]) == 1)
      try scene.daemon.call("session.lock")
      #expect(try status("/bin/true") == 4)
    }
  }
}

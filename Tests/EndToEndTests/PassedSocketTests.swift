import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite(
  "Sockets that systemd passes", .serialized, .mayBlock,
  .enabled(if: SocketActivation.isPossible, "needs systemd-socket-activate"))
struct PassedSocketTests {
  @Test("all of them are served, each to its own user alone")
  func several() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.makeFolder("\(daemon.folder)/run")
      let second = "\(environment.folder)/second.sock"
      daemon.launcher = SocketActivation.launcher([daemon.socket, second])
      try daemon.start()
      for socket in [daemon.socket, second] {
        var client = try ControlClient(path: socket)
        #expect(try client.call("daemon.getInfo")["paths"]?["socket"] == .string(daemon.socket))
      }
      if getuid() == 0 {
        // Whoever asks checks whose the daemon is before it says anything.
        try Files.setMode(environment.folder, 0o755)
        try Files.setMode(second, 0o666)
        #expect(try environment.hearthctl(["status", "--socket", second], user: 65_534).status != 0)
        try eventually("it is turned away") { daemon.process?.errors.contains("Rejected a connection") == true }
      }
      #expect(try daemon.stop() == .exited(0))
      #expect(Files.exists(daemon.socket) && Files.exists(second), "their files are systemd's")
    }
  }

  @Test("one whose file is removed is there again while the daemon runs, and the doctor says how systemd gets it back")
  func removed() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.makeFolder("\(daemon.folder)/run")
      daemon.launcher = SocketActivation.launcher([daemon.socket])
      try daemon.start()
      Files.removeTree("\(daemon.folder)/run")
      try eventually("it is there again") { (try? daemon.call("daemon.getInfo")) != nil }
      let doctor = try environment.hearthctl(["doctor", "--socket", daemon.socket])
      #expect(doctor.output.contains("systemctl --user restart hearthd.socket"))
      #expect(try daemon.stop() == .exited(0))
      #expect(!Files.exists(daemon.socket))
    }
  }

  @Test("one that cannot be served is told in the log and by the doctor, and the others are served")
  func oneUnusable() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      try Files.makeFolder("\(daemon.folder)/run")
      let port = try ReservedPort()
      daemon.launcher = SocketActivation.launcher(["127.0.0.1:\(port.number)", daemon.socket])
      try daemon.start()
      let sentence = "systemd passed a TCP socket (descriptor 3), which Hearth ignores"
      #expect(daemon.process?.errors.contains(sentence) == true)
      #expect(try environment.hearthctl(["doctor", "--socket", daemon.socket]).output.contains(sentence))
    }
  }

  @Test("without one that can be served the daemon ends with 78 and one sentence, which whoever waits is told")
  func noneUsable() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      let port = try ReservedPort()
      let process = try environment.spawn(
        "hearthd", daemon.arguments, launcher: SocketActivation.launcher(["127.0.0.1:\(port.number)"]))
      let client = try eventually("systemd listens") { try? RawClient(port: port.number) }
      #expect(try process.wait() == .exited(78))
      let sentence = "passed no socket that Hearth can serve, only a TCP socket (descriptor 3)"
      let told = process.errors.split(separator: "\n").filter { $0.contains(sentence) }
      #expect(told.count == 1, "\(process.errors)")
      #expect(try client.receiveToEnd().contains(sentence))
    }
  }

  @Test("whoever waits is told why a daemon cannot start, and not only that its configuration is refused")
  func cannotStart() async throws {
    try await TestEnvironment.run { environment in
      let first = try environment.daemon("", name: "first")
      let socket = "\(environment.folder)/second.sock"
      let process = try environment.spawn(
        "hearthd", ["--config", first.configurationPath, "--state-dir", first.state, "--socket", "unused"],
        launcher: SocketActivation.launcher([socket]))
      try eventually("systemd listens") { Files.exists(socket) }
      let run = try environment.hearthctl(["status", "--socket", socket])
      #expect(run.errors.contains("Another hearthd"), "\(run.errors)")
      #expect(try process.wait() == .exited(1))
    }
  }
}

/// systemd-socket-activate(1), which starts the program at the first connection.
private enum SocketActivation {
  private static let program = "/usr/bin/systemd-socket-activate"

  static let isPossible = access(program, X_OK) == 0

  /// `places`: paths, or addresses with a port.
  static func launcher(_ places: [String]) -> [String] {
    // It closes the descriptor that programs are started by here.
    let start = ["/bin/sh", "-c", "shift && exec '\(ChildProcess.binaries)/hearthd' \"$@\"", "sh"]
    return [program] + places.flatMap { ["--listen", $0] } + start
  }
}

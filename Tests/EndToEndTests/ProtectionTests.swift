import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite("What is the user's stays the user's", .serialized, .mayBlock) struct ProtectionTests {
  @Test("socket and files are 0600, folders 0700")
  func modes() async throws {
    try await TestEnvironment.session { _, _, daemon in
      #expect(Files.mode(daemon.socket) == 0o600)
      #expect(Files.mode("\(daemon.folder)/run") == 0o700)
      #expect(Files.mode(daemon.state) == 0o700 && Files.mode(daemon.credentials) == 0o700)
      let files = Files.tree(daemon.state)
      #expect(files.count >= 3)
      for path in files { #expect(Files.mode(path) == 0o600, "\(path)") }
    }
  }

  @Test("it leaves no core dumps and cannot be traced by its own user")
  func notDumpable() async throws {
    try await TestEnvironment.run(unprivileged: true) { environment in
      let daemon = try environment.daemon("")
      let pid = try #require(daemon.process?.pid)
      let limits = Files.text("/proc/\(pid)/limits").split(separator: "\n")
      let cores = try #require(limits.first { $0.hasPrefix("Max core file size") })
      #expect(cores.split(separator: " ").filter { $0 == "0" }.count == 2)
      // Of a process that must not be dumped, /proc belongs to root (proc(5)).
      #expect(Files.owner("/proc/\(pid)/environ") == 0 && environment.user != 0)
    }
  }

  @Test("so is hearthctl, which reads tokens and passphrases, and what it lets go is wiped, too")
  func commandLine() async throws {
    try await TestEnvironment.run(unprivileged: true) { environment in
      let daemon = try environment.daemon("")
      let events = try environment.spawn("hearthctl", ["events", "--socket", daemon.socket], user: environment.user)
      try eventually("hearthctl has begun") { Files.text("/proc/\(events.pid)/cmdline").hasPrefix("/proc/self/fd") }
      try eventually("it cannot be traced by its own user") {
        Files.owner("/proc/\(events.pid)/environ") == 0 && environment.user != 0
      }
      let limits = Files.text("/proc/\(events.pid)/limits").split(separator: "\n")
      let cores = try #require(limits.first { $0.hasPrefix("Max core file size") })
      #expect(cores.split(separator: " ").filter { $0 == "0" }.count == 2)
      // Whoever asks for this by its name is the allocator that wipes.
      let program = try #require(Files.read("/proc/\(events.pid)/exe"))
      #expect(ProcessMemory.count(of: Array("\0__libc_memalign\0".utf8), in: program) > 0)
    }
  }

  @Test("a process of another user is turned away", .enabled(if: getuid() == 0, "only root can be two users"))
  func otherUser() async throws {
    try await TestEnvironment.run(unprivileged: true) { environment in
      let daemon = try environment.daemon("")
      // Root may connect to any socket.
      #expect(throws: ControlClient.Failure.disconnected) {
        var client = try ControlClient(path: daemon.socket, user: environment.user)
        _ = try client.call(GetInfo.name)
      }
      #expect(throws: ControlClient.Failure.foreignServer(path: daemon.socket, user: environment.user)) {
        _ = try ControlClient(path: daemon.socket)
      }
      #expect(try environment.hearthctl(["status", "--socket", daemon.socket], user: 0).status != 0)
      for _ in 0..<50 {
        #expect(throws: ControlClient.Failure.disconnected) {
          var client = try ControlClient(path: daemon.socket, user: environment.user)
          _ = try client.call(GetInfo.name)
        }
      }
      let errors = try #require(daemon.process?.errors)
      let lines = errors.split(separator: "\n").filter { $0.contains("Rejected ") }
      #expect(lines.count == 1, "one that comes again and again writes no line each time")
    }
  }
}

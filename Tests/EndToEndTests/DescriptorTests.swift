import Glibc
import HearthClient
import HearthControl
import TestSupport
import Testing

@Suite("Few descriptors", .serialized, .mayBlock) struct DescriptorTests {
  private static func limit(_ soft: Int, _ hard: Int) -> [String] {
    ["/usr/bin/prlimit", "--nofile=\(soft):\(hard)", "--"]
  }

  @Test("with too few the daemon ends with one sentence, and touches nothing")
  func tooFew() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      let process = try environment.spawn("hearthd", daemon.arguments, launcher: Self.limit(16, 16))
      #expect(try process.wait() == .exited(1))
      #expect(process.errors.contains("needs 40 file descriptors") && process.errors.isOneLine)
      #expect(!Files.exists(daemon.state) && !Files.exists(daemon.socket))
    }
  }

  @Test("with too few threads, or without /proc, the daemon ends with one sentence, and touches nothing")
  func tooFewThreads() async throws {
    // The limit does not hold for root.
    let user = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups"] : []
    var launchers = [("needs 16 threads", user + ["/usr/bin/prlimit", "--nproc=1", "--"])]
    if SmallDisk.isPossible, geteuid() == 0 {
      // The program is named by a path in /proc.
      let script =
        #"mount --bind "$1" /usr/bin/false && shift && mount -t tmpfs none /proc && exec /usr/bin/false "$@""#
      launchers.append(("needs /proc", ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh"]))
    }
    for (sentence, launcher) in launchers {
      try await TestEnvironment.run { environment in
        let programs = [
          ("hearthd", ["--state-dir", "/none/state", "--socket", "/none/socket"]), ("hearth-sandbox", []),
        ]
        for (program, arguments) in programs {
          let process = try environment.spawn(program, arguments, environment: ["HOME": "/none"], launcher: launcher)
          #expect(try process.wait() == .exited(1))
          #expect(process.errors.contains(sentence) && process.errors.isOneLine, "\(process.errors)")
        }
      }
    }
  }

  @Test("it allows itself as many as it may have")
  func raised() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try Daemon(on: environment, configuration: "")
      daemon.launcher = Self.limit(64, 2048)
      try daemon.start()
      let limits = Files.text("/proc/\(try #require(daemon.process?.pid))/limits").split(separator: "\n")
      let files = try #require(limits.first { $0.hasPrefix("Max open files") })
      #expect(files.split(separator: " ").filter { $0 == "2048" }.count == 2)
    }
  }

  @Test("the daemon watches no writes in the folder of its outbox", .enabled(if: geteuid() == 0, "needs root"))
  func ownWrites() async throws {
    try await TestEnvironment.run { environment in
      let daemon = try environment.daemon(Configuration.oidc(try environment.sandbox()))
      var status = stat()
      #expect(stat(daemon.state, &status) == 0)
      let inode = " ino:\(String(status.st_ino, radix: 16)) "
      let folder = "/proc/\(try #require(daemon.process?.pid))/fdinfo"
      let watch = try eventually("the daemon watches the folder") { () -> Substring? in
        let lines = (0..<256).flatMap { Files.text("\(folder)/\($0)").split(separator: "\n") }
        return lines.first { $0.hasPrefix("inotify ") && $0.contains(inode) }
      }
      let fields = watch.split(separator: " ")
      let mask = fields.first { $0.hasPrefix("mask:") }.flatMap { UInt32($0.dropFirst(5), radix: 16) }
      #expect(try #require(mask) & UInt32(IN_MODIFY | IN_CLOSE_WRITE) == 0, "\(watch)")
    }
  }

  @Test("a hundred clients leave it the credential and the outbox, and once they are gone it serves again")
  func manyClients() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox) + Configuration.impatient)
      daemon.launcher = Self.limit(64, 64)
      try daemon.start()
      try daemon.signIn(at: sandbox)
      var early = try ControlClient(path: daemon.socket)
      _ = try early.call("daemon.getInfo")
      var clients = try (0..<100).map { _ in try RawClient(path: daemon.socket) }
      let refused = try #require(try clients[99].receive())
      #expect(refused["error"]?["code"] == -32001)

      _ = try early.call("session.rehydrate")
      let seen = try SessionView(early.call("session.get", ["account": "work"]))
      #expect(seen.credential.readable)
      _ = try early.call("session.lock")
      _ = try early.call("session.unlock")
      _ = try early.call("session.refresh", ["account": "work"])
      _ = try early.call("outbox.enqueue", daemon.draft("note", to: sandbox.notes))
      try sandbox.waitUntilWritten(["note"])
      let status = try SessionView(early.call("session.get", ["account": "work"]))
      #expect(status.state == "authenticated" && status.credential.error == nil)

      clients = []
      try eventually("it serves again") { (try? daemon.call("daemon.getInfo")) != nil }
    }
  }

  @Test("what requests to an API use up locks no session, and all is delivered")
  func manyRequests() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(
        on: environment,
        configuration: Configuration.oidc(sandbox) + "[outbox]\nconcurrency = 200\nretry_initial = \"100ms\"\n")
      daemon.launcher = Self.limit(64, 64)
      try daemon.start()
      try daemon.signIn(at: sandbox)
      var early = try ControlClient(path: daemon.socket)
      let process = try #require(daemon.process?.pid)
      let idle = Files.names(in: "/proc/\(process)/fd").count
      try sandbox.hold("/api")
      for number in 1...60 {
        _ = try early.call(
          "outbox.enqueue", daemon.draft("\(number)", to: sandbox.notes, ["unordered": true]))
      }
      try eventually("requests hold most of what is left") {
        Files.names(in: "/proc/\(process)/fd").count > (idle + 64) / 2
      }
      _ = try early.call("session.lock")
      _ = try early.call("session.unlock")
      let status = try SessionView(early.call("session.get", ["account": "work"]))
      #expect(status.state == "authenticated" && status.credential.readable)

      try sandbox.release()
      try eventually("all is delivered") { try Set(sandbox.written).count >= 60 }
      try eventually("it serves again") { (try? daemon.call("daemon.getInfo")) != nil }
    }
  }
}

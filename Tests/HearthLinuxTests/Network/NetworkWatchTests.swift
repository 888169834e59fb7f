import Glibc
import TestSupport
import Testing

@testable import HearthLinux

/// In a network of its own (network_namespaces(7)), which ends with its thread.
@Suite(
  "What the kernel reports of the network", .timeLimit(.minutes(1)),
  .enabled(if: getuid() == 0 && access(ip, X_OK) == 0, "only root can make a network, and ip(8) fills it"))
struct NetworkWatchTests {
  private struct Failed: Error {
    let what: String
  }

  /// unshare(2) with `CLONE_NEWNET` of sched.h, both of which Swift does not see.
  private static func unshareNetwork() -> Bool {
    guard let unshare = dlsym(nil, "unshare") else { return false }
    return unsafeBitCast(unshare, to: (@convention(c) (Int32) -> Int32).self)(0x4000_0000) == 0
  }

  /// On a thread that nobody else uses: a network is a thread's.
  private static func inNewNetwork<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask(executorPreference: OwnThreads.shared) {
        guard unshareNetwork() else { throw Failed(what: "unshare") }
        try run("link set lo up")
        return try body()
      }
      guard let value = try await group.next() else { throw Failed(what: "nothing ran") }
      return value
    }
  }

  /// Inherits the network of this thread (a card that is none stands for one: vxlan); returns when the kernel has done it, and told of it.
  private static func run(_ command: String) throws {
    let words = ([ip] + command.split(separator: " ").map(String.init)).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var pid: pid_t = 0
    var status: Int32 = 0
    guard posix_spawn(&pid, ip, nil, nil, words, nil) == 0,
      uninterrupted({ waitpid(pid, &status, 0) }) == pid, status == 0
    else {
      throw Failed(what: "ip \(command)")
    }
  }

  @Test("containers' links, and what goes, are no hint; an address, a default route and a link that is back are one")
  func drained() async throws {
    try await Self.inNewNetwork {
      try Self.run("link add card0 type vxlan id 7 dstport 4789")
      try Self.run("link set card0 up")
      guard let socket = NetworkWatch() else { throw Failed(what: "netlink") }
      func isNews(_ commands: String...) throws -> Bool? {
        for command in commands { try Self.run(command) }
        return socket.drain()
      }
      // The lists are answered one after the other.
      for _ in 0..<4 { #expect(socket.drain() == false) }
      #expect(try isNews("link add v0 type veth peer name v1", "link set v0 up", "link set v1 up") == false)
      #expect(try isNews("link add br0 type bridge", "link set v0 master br0", "link set br0 up") == false)
      #expect(try isNews("address add 172.17.0.1/16 dev br0") == false)
      #expect(try isNews("address add 192.168.7.2/24 dev card0") == true)
      #expect(try isNews("address change 192.168.7.2/24 dev card0 valid_lft 900 preferred_lft 900") == false)
      #expect(try isNews("route add 10.0.0.0/8 via 192.168.7.9") == false)
      #expect(try isNews("route add default via 192.168.7.1") == true)
      #expect(try isNews("route replace default via 192.168.7.1") == false)
      #expect(try isNews("route replace default via 192.168.7.3") == true)
      #expect(try isNews("link del v0", "link del br0", "route del default") == false)
      #expect(try isNews("route add default via 192.168.7.1") == true)
      #expect(try isNews("link set card0 down") == false)
      #expect(try isNews("link set card0 up") == true, "it works again, and has its address still")
      #expect(try isNews("route add default via 192.168.7.1") == true)
    }
  }

  @Test("what was there when the watch began is no hint when it is told again")
  func listed() async throws {
    try await Self.inNewNetwork {
      try Self.run("link add card0 type vxlan id 7 dstport 4789")
      try Self.run("link set card0 up")
      try Self.run("address add 192.168.7.2/24 dev card0")
      try Self.run("route add default via 192.168.7.1")
      guard let socket = NetworkWatch() else { throw Failed(what: "netlink") }
      for _ in 0..<4 { #expect(socket.drain() == false) }
      try Self.run("address change 192.168.7.2/24 dev card0 valid_lft 900 preferred_lft 900")
      try Self.run("route replace default via 192.168.7.1")
      #expect(socket.drain() == false)
    }
  }

  @Test("a default route comes as a hint to whoever waits")
  func hinted() async throws {
    let hints = try await Self.inNewNetwork {
      try Self.run("link add card0 type vxlan id 7 dstport 4789")
      try Self.run("link set card0 up")
      let hints = NetworkWatch.hints()
      try Self.run("route add default dev card0")
      return hints
    }
    for await _ in hints { break }
  }
}

private let ip = "/usr/sbin/ip"

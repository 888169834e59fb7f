import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

/// Each test that needs an environment of its own runs in a process of its own.
@Suite("The service manager", .timeLimit(.minutes(1)))
struct ServiceManagerTests {
  @Test("is told of readiness, status, reload, stop and life, in the words of sd_notify")
  func notifications() async {
    await #expect(processExitsWith: .success) {
      let manager = try #require(NotifySocket())
      setenv("NOTIFY_SOCKET", manager.path, 1)
      let notifier = ServiceNotifier()
      notifier.ready(status: "Two accounts.")
      #expect(manager.next() == "READY=1\nSTATUS=Two accounts.")
      notifier.status("work: signed in\nREADY=0\r\nMAINPID=1")
      #expect(manager.next() == "STATUS=work: signed in READY=0 MAINPID=1")
      notifier.reloading()
      let reloading = try #require(manager.next())
      #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
      #expect(Int64(reloading.split(separator: "=").last ?? "") ?? 0 > 0)
      notifier.stopping(within: .seconds(38))
      #expect(manager.next() == "STOPPING=1\nSTATUS=Stopping.\nEXTEND_TIMEOUT_USEC=38000000")
      notifier.alive()
      #expect(manager.next() == "WATCHDOG=1")
    }
  }

  @Test("that takes nothing is waited for by nobody, and is told all in its order once it does")
  func stuckManager() async {
    await #expect(processExitsWith: .success) {
      let manager = try #require(NotifySocket())
      setenv("NOTIFY_SOCKET", manager.path, 1)
      manager.fill()
      let notifier = ServiceNotifier()
      notifier.ready(status: "Ready.")
      for number in 0..<50 { notifier.status("\(number)") }
      notifier.alive()
      // Here a thread that sent them itself would stand still.
      var messages: [String] = []
      while messages.last != "WATCHDOG=1", let message = manager.next() { messages.append(message) }
      let told = messages.filter { $0 != "x" }
      #expect(told == ["READY=1\nSTATUS=Ready."] + (0..<50).map { "STATUS=\($0)" } + ["WATCHDOG=1"])
    }
  }

  @Test("is told nothing where there is none")
  func nobody() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NOTIFY_SOCKET")
      unsetenv("WATCHDOG_USEC")
      unsetenv("LISTEN_FDS")
      ServiceNotifier().ready(status: "Nobody listens.")
      #expect(ServiceNotifier.watchdogInterval() == nil)
      let sockets = try PassedSockets().listeners()
      #expect(sockets.isEmpty)
    }
  }

  @Test("gets a sign of life at half its watchdog's time, only while the daemon lives")
  func watchdog() async {
    await #expect(processExitsWith: .success) {
      let manager = try #require(NotifySocket())
      setenv("NOTIFY_SOCKET", manager.path, 1)
      setenv("WATCHDOG_USEC", "30000000", 1)
      setenv("WATCHDOG_PID", "\(getpid())", 1)
      let interval = try #require(ServiceNotifier.watchdogInterval())
      #expect(interval == .seconds(15))

      let clock = ManualClock()
      let isAlive = Flag(true)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await ServiceNotifier().keepAlive(every: interval, clock: clock) { isAlive.isSet } }
        await clock.waitForSleeper(until: clock.now() + .seconds(15))
        #expect(manager.next() == "WATCHDOG=1")
        isAlive.isSet = false
        clock.advance(by: .seconds(15))
        await clock.waitForSleeper(until: clock.now() + .seconds(15))
        #expect(manager.receive() == nil)
        isAlive.isSet = true
        clock.advance(by: .seconds(15))
        await clock.waitForSleeper(until: clock.now() + .seconds(15))
        #expect(manager.next() == "WATCHDOG=1")
        group.cancelAll()
      }
    }
  }

  /// Has the service manager pass these, from descriptor 3 on, which may be in use by the test runner.
  private static func passing(_ descriptors: [Int32], _ body: (PassedSockets) throws -> Void) throws {
    let places = Int32(3)..<Int32(3 + descriptors.count)
    let given = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
    let kept = places.map { (place: $0, copy: fcntl($0, F_DUPFD_CLOEXEC, 100)) }
    defer {
      for (place, copy) in kept { if copy >= 0 { dup2(copy, place) } else { close(place) } }
      for copy in given + kept.map(\.copy) where copy >= 0 { close(copy) }
    }
    for (descriptor, place) in zip(given, places) { dup2(descriptor, place) }
    setenv("LISTEN_PID", "\(getpid())", 1)
    setenv("LISTEN_FDS", "\(descriptors.count)", 1)
    let passed = PassedSockets()
    #expect(getenv("LISTEN_FDS") == nil)
    try body(passed)
  }

  private static func tcpSocket() -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    listen(descriptor, 1)
    return descriptor
  }

  @Test("passes several sockets: those that can be served are, and a sentence says which of them are not")
  func passedSockets() async {
    await #expect(processExitsWith: .success) {
      let (one, two) = (try #require(UnixSocket.listening()), try #require(UnixSocket.listening()))
      try Self.passing([one]) { passed in
        let sockets = try passed.listeners()
        #expect(sockets.map(\.descriptor) == [3])
        #expect(passed.complaint == nil)
      }
      try Self.passing([one, two]) { passed in
        let sockets = try passed.listeners()
        #expect(sockets.map(\.descriptor) == [3, 4])
        #expect(passed.complaint == nil)
      }
      var pipe: [Int32] = [0, 0]
      Glibc.pipe(&pipe)
      let others = [
        (Self.tcpSocket(), "a TCP socket"), (socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0), "a UDP socket"),
        (socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0), "a Unix socket of another type"),
        (socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), "a connection"), (pipe[0], "a FIFO"),
        (open("/dev/null", O_RDONLY), "something else"),
      ]
      for (other, name) in others {
        try Self.passing([other, one]) { passed in
          let sockets = try passed.listeners()
          #expect(sockets.map(\.descriptor) == [4])
          #expect(passed.complaint?.contains("passed \(name) (descriptor 3), which Hearth ignores") == true)
        }
        try Self.passing([other]) { passed in
          #expect(throws: PassedSocketFailure.noneUsable("\(name) (descriptor 3)")) { try passed.listeners() }
        }
      }
    }
  }

  @Test("finds nothing waiting at any of its sockets after they were rejected, so that it starts nobody again for it")
  func rejected() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let datagrams = try #require(UnixSocket.bound(SOCK_DGRAM, at: folder.file("datagrams")))
      let (one, two) = (try ListeningSocket(path: folder.file("1")), try ListeningSocket(path: folder.file("2")))
      var pipe: [Int32] = [0, 0]
      Glibc.pipe(&pipe)
      write(pipe[1], "x", 1)
      let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      #expect(SocketPath.withAddress(of: folder.file("datagrams")) { connect(sender, $0, $1) } == 0)
      send(sender, "x", 1, 0)
      let clients = try ["1", "1", "2"].map { try RawClient(path: folder.file($0)) }
      try Self.passing([one.descriptor, pipe[0], two.descriptor, datagrams]) { passed in
        passed.rejectClients(with: Array("{\"no\":1}\n".utf8))
        var waiting = (Int32(3)...6).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        #expect(poll(&waiting, 4, 0) == 0)
      }
      for client in clients { #expect(try client.receive() == ["no": 1]) }
    }
  }
}

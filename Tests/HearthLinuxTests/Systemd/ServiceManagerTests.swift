import Glibc
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
      #expect(Watchdog.requested() == nil)
      let socket = try PassedSocket.adopt()
      #expect(socket == nil)
    }
  }

  @Test("gets a sign of life at half its watchdog's time, only while the daemon lives")
  func watchdog() async {
    await #expect(processExitsWith: .success) {
      let manager = try #require(NotifySocket())
      setenv("NOTIFY_SOCKET", manager.path, 1)
      setenv("WATCHDOG_USEC", "30000000", 1)
      setenv("WATCHDOG_PID", "\(getpid())", 1)
      let watchdog = try #require(Watchdog.requested())
      #expect(watchdog.interval == .seconds(15))

      let clock = ManualClock()
      let isAlive = Flag(true)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await watchdog.run(clock: clock, isAlive: { isAlive.isSet }) }
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

  @Test("passes one listening Unix stream socket, and nothing else is taken for it")
  func passedSocket() async {
    await #expect(processExitsWith: .success) {
      func pass(_ descriptor: Int32, count: Int = 1) throws -> Int32? {
        // Descriptor 3 may be in use by the test runner.
        let kept = dup(3)
        defer { if kept >= 0 { dup2(kept, 3) } }
        dup2(descriptor, 3)
        setenv("LISTEN_PID", "\(getpid())", 1)
        setenv("LISTEN_FDS", "\(count)", 1)
        defer { #expect(getenv("LISTEN_FDS") == nil) }
        return try PassedSocket.adopt()
      }
      let listening = try #require(UnixSocket.listening())
      #expect(try pass(listening) == 3)
      #expect(throws: PassedSocketFailure.wrongKind) { try pass(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) }
      #expect(throws: PassedSocketFailure.wrongKind) { try pass(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)) }
      #expect(throws: PassedSocketFailure.tooMany(2)) {
        dup2(listening, 4)
        return try pass(listening, count: 2)
      }
    }
  }
}

import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

/// The real program on a terminal, which is a pair of pseudo-terminals.
@Suite("Ctrl-Z", .timeLimit(.minutes(1))) struct SuspensionTests {
  private static let begin = "\u{1B}[?1049h"
  private static let end = "\u{1B}[?1049l"

  private var daemon: FakeDaemon {
    FakeDaemon { request in
      switch request.method {
      case Subscribe.name:
        .result(
          Subscription(id: "1", seq: 0, sessions: [], outbox: OutboxStats()).json(at: Timestamp(milliseconds: 0)))
      default: .result(["sessions": []])
      }
    }
  }

  @Test("a terminal that obeys no control sequences gets none: top refuses, and status prints again")
  func dumb() async throws {
    let folder = TemporaryFolder()
    let daemon = daemon
    try await onThread {
      let terminal = PseudoTerminal()
      func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
          "hearthctl", arguments, environment: ["HEARTH_SOCKET": daemon.path, "TERM": "dumb"],
          input: .file(terminal.path), output: terminal.path, outputFolder: folder.path)
      }
      let top = try start(["top"])
      #expect(try top.waitForExit() == 64)
      #expect(top.errors.contains("top needs a terminal with cursor control"))
      let status = try start(["status", "--watch"])
      try eventually("it prints") { terminal.shown.contains("no accounts") }
      status.signal(SIGTERM)
      _ = try status.wait()
      #expect(!terminal.shown.contains("\u{1B}"))
    }
  }

  @Test(
    "gives the terminal back as it was, and what goes on draws anew",
    arguments: [["top"], ["status", "--watch"]])
  func suspension(_ arguments: [String]) async throws {
    let folder = TemporaryFolder()
    let daemon = daemon
    try await onThread {
      let terminal = PseudoTerminal()
      let process = try ChildProcess(
        "hearthctl", arguments, environment: ["HEARTH_SOCKET": daemon.path, "TERM": "xterm"],
        input: .file(terminal.path), output: terminal.path, outputFolder: folder.path)
      try eventually("it draws") { terminal.shown.contains("no accounts") }
      process.signal(SIGTSTP)
      try eventually("it has given the terminal back") { terminal.shown.contains(Self.end) }
      // It stops only where there is a shell to continue it.
      try eventually("it goes on") {
        process.signal(SIGCONT)
        return terminal.shown.split(separator: Self.end).last?.contains(Self.begin) == true
      }
      try eventually("it draws again") {
        terminal.shown.split(separator: Self.begin, omittingEmptySubsequences: false).last?.contains("no accounts")
          == true
      }
      process.signal(SIGINT)
      _ = try process.waitForExit()
      #expect(terminal.shown.hasSuffix(Self.end))
      #expect(terminal.has(ECHO))
    }
  }
}

import Glibc
import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

/// The real program with a terminal for its standard input.
@Suite(.timeLimit(.minutes(1))) struct TerminalTests {
  private struct Outcome: Sendable {
    let status: Int32
    /// What the terminal showed of what was typed.
    let echoed: String
    let errors: String
    let isEchoOn: Bool
  }

  /// Types each answer when its prompt has appeared.
  private func run(
    _ arguments: [String], _ daemon: FakeDaemon, typing answers: [(prompt: String, typed: String)]
  ) async throws -> Outcome {
    let path = daemon.path
    return try await onThread {
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(master) }
      var unlocked: Int32 = 0
      _ = ioctl(master, UInt(0x4004_5431), &unlocked)  // TIOCSPTLCK, ioctl_tty(2)
      var number: Int32 = 0
      _ = ioctl(master, UInt(0x8004_5430), &number)  // TIOCGPTN
      // It keeps the settings that the program leaves behind.
      let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(terminal) }
      let folder = TemporaryFolder()
      let process = try ChildProcess(
        "hearthctl", arguments, environment: ["HEARTH_SOCKET": path], input: .file("/dev/pts/\(number)"),
        outputFolder: folder.path)
      for (expected, typed) in answers {
        try eventually("hearthctl asks \(expected)") { process.errors.hasSuffix(expected) }
        let line = Array((typed + "\n").utf8)
        write(master, line, line.count)
      }
      let status = try process.waitForExit()
      var settings = termios()
      tcgetattr(terminal, &settings)
      var chunk = [UInt8](repeating: 0, count: 256)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      let count = max(read(master, &chunk, chunk.count), 0)
      return Outcome(
        status: status, echoed: String(decoding: chunk[..<count], as: UTF8.self), errors: process.errors,
        isEchoOn: settings.c_lflag & tcflag_t(ECHO) != 0)
    }
  }

  /// Of these accounts each needs its passphrase, which it was given when one was sent.
  private func daemon(_ folder: TemporaryFolder, _ sessions: [SessionStatus]) -> FakeDaemon {
    FakeDaemon(path: folder.file("rpc.sock")) { request in
      let account = request.params["account"]?.string
      let chosen = sessions.filter { account == nil || $0.account.description == account }
      switch (request.method, request.params["passphrase"]) {
      case (UnlockSessions.name, nil) where account != nil:
        return .error(RPCError(.passphraseNeeded, message: "A passphrase is needed."))
      case (UnlockSessions.name, "wrong"):
        return .error(RPCError(.wrongPassphrase, message: "The passphrase is wrong."))
      case (GetSession.name, _): return .result(chosen[0].json)
      case (UnlockSessions.name, .some), (ListSessions.name, _):
        return .result(["sessions": .array(chosen.map { Samples.session("\($0.account)").json })])
      default: return .result(["sessions": .array(chosen.map(\.json))])
      }
    }
  }

  private func sent(_ daemon: FakeDaemon) -> [String] {
    daemon.asked.compactMap { request in
      request.params["passphrase"]?.string.map { "\(request.params["account"]?.string ?? "all"): \($0)" }
    }
  }

  @Test("unlock asks for the passphrase on a terminal, without echo, and sends it")
  func asksWithoutEcho() async throws {
    let folder = TemporaryFolder()
    let daemon = daemon(folder, [Samples.locked])
    let outcome = try await run(
      ["unlock", "work"], daemon, typing: [(prompt: "Passphrase for work: ", typed: "open sesame")])
    #expect(outcome.status == 0)
    #expect(outcome.isEchoOn, "the echo was left off")
    #expect(!outcome.echoed.contains("sesame"))
    #expect(sent(daemon) == ["work: open sesame"])
  }

  @Test("a first passphrase is said to be one, and asked for twice", arguments: ["open sesame", "open sesam"])
  func first(again: String) async throws {
    let folder = TemporaryFolder()
    let daemon = daemon(folder, [Samples.signedOut])
    let outcome = try await run(
      ["unlock", "home"], daemon,
      typing: [(prompt: "New passphrase for home: ", typed: "open sesame"), (prompt: "Again: ", typed: again)])
    #expect(outcome.errors.hasPrefix("home has no passphrase yet"))
    if again == "open sesame" {
      #expect(outcome.status == 0)
      #expect(sent(daemon) == ["home: open sesame"])
    } else {
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("The two passphrases are not the same: nothing was set."))
      #expect(sent(daemon).isEmpty)
    }
  }

  @Test("unlock without an account asks for each that needs it, and a wrong answer keeps none of the others locked")
  func all() async throws {
    let folder = TemporaryFolder()
    let other = Samples.session("other", state: .locked(.explicit(.user)), health: nil)
    let daemon = daemon(folder, [Samples.locked, other])
    let outcome = try await run(
      ["unlock"], daemon,
      typing: [(prompt: "Passphrase for work: ", typed: "wrong"), (prompt: "Passphrase for other: ", typed: "sesame")])
    #expect(outcome.status == 4)
    #expect(outcome.errors.contains("hearthctl: work: The passphrase is wrong.\n"))
    #expect(sent(daemon) == ["work: wrong", "other: sesame"])
  }

  @Test("account add offers to sign in, and does so where the person wants that", arguments: ["", "n"])
  func offersSignIn(answer: String) async throws {
    let folder = TemporaryFolder()
    let configuration = folder.file("config.toml")
    let daemon = FakeDaemon(path: folder.file("rpc.sock")) { request in
      switch request.method {
      case GetInfo.name:
        let paths: [DaemonInfo.Path] = [("configuration", configuration)]
        return .result(DaemonInfo(pid: 1, startedAt: Timestamp(seconds: 1), paths: paths).json)
      case BeginSignIn.name: return .error(RPCError(.flowNotSupported, message: "Not this flow."))
      default: return .result(Samples.session("work").json)
      }
    }
    let outcome = try await run(
      ["account", "add", "work", "--provider", "github", "--client-id", "c"], daemon,
      typing: [(prompt: "Sign in now? [Y/n] ", typed: answer)])
    #expect(outcome.status == (answer == "n" ? 0 : 1))
    #expect(daemon.asked.contains { $0.method == BeginSignIn.name } == (answer != "n"))
    #expect(daemon.asked.contains { $0.method == ReloadConfiguration.name })
    #expect(Files.text(configuration).contains("[accounts.work]\nprovider = \"github\"\n"))
  }
}

import Foundation
import Glibc
import HearthControl
import Synchronization
import TestSupport
import Testing

/// The real program with a terminal for its standard input.
@Suite(.timeLimit(.minutes(1))) struct TerminalTests {
  @Test("unlock asks for the passphrase on a terminal, without echo, and sends it")
  func asksWithoutEcho() async throws {
    let folder = TemporaryFolder()
    let daemon = FakeDaemon(path: folder.file("rpc.sock")) { request in
      switch (Method(rawValue: request.method), request.params["passphrase"]) {
      case (.sessionUnlock, nil): .error(.passphraseNeeded(account: "work", message: "A passphrase is needed."))
      case (.sessionUnlock, _): .result(["sessions": [Samples.session().json]])
      default: .result(Samples.locked.json)
      }
    }
    let (status, echoed) = try await onThread {
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var unlocked: Int32 = 0
      _ = ioctl(master, UInt(0x4004_5431), &unlocked)  // TIOCSPTLCK, ioctl_tty(2)
      var number: Int32 = 0
      _ = ioctl(master, UInt(0x8004_5430), &number)  // TIOCGPTN
      let terminal = FileHandle(
        fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY), closeOnDealloc: true)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: BuiltProduct.path("hearthctl"))
      process.arguments = ["unlock", "work"]
      process.environment = ["HEARTH_SOCKET": daemon.path]
      let prompt = Pipe()
      process.standardInput = terminal
      process.standardOutput = Pipe()
      process.standardError = prompt
      try process.run()
      var asked = ""
      while !asked.hasSuffix("Passphrase for work: ") {
        asked += String(decoding: prompt.fileHandleForReading.availableData, as: UTF8.self)
      }
      let typed = Array("open sesame\n".utf8)
      write(master, typed, typed.count)
      process.waitUntilExit()
      var settings = termios()
      tcgetattr(terminal.fileDescriptor, &settings)
      #expect(settings.c_lflag & tcflag_t(ECHO) != 0, "the echo was left off")
      var chunk = [UInt8](repeating: 0, count: 256)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      let count = max(read(master, &chunk, chunk.count), 0)
      close(master)
      return (process.terminationStatus, String(decoding: chunk[..<count], as: UTF8.self))
    }
    #expect(status == 0)
    #expect(!echoed.contains("sesame"))
    #expect(daemon.asked.last?.params["passphrase"] == "open sesame")
  }
}

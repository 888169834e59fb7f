import Glibc
import Synchronization

/// Records signals that ask the program to end, such as SIGINT from Ctrl-C.
enum Interruption {
  private static let signal = Atomic<Int32>(0)

  /// Starts recording the signals. The program must then check `hasCome`, because the signals no longer end it.
  static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      Glibc.signal(number) { Interruption.signal.store($0, ordering: .relaxed) }
    }
  }

  /// Makes Ctrl-C end the program immediately, with exit status 130.
  static func endProgram() {
    let former = Glibc.signal(SIGINT) { _ in _exit(ExitStatus.interrupted.rawValue) }
    // Keep ignoring the signal if the parent ignored it, as shells do for background jobs in scripts.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { Glibc.signal(SIGINT, SIG_IGN) }
  }

  static var hasCome: Bool { signal.load(ordering: .relaxed) != 0 }
}

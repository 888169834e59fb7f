import Glibc
import Synchronization

/// Whether the user has pressed Ctrl-C, or the process has been asked to end.
enum Interruption {
  private static let signal = Atomic<Int32>(0)

  /// From here on these signals are only recorded; the program ends where it checks for them.
  static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      Glibc.signal(number) { Interruption.signal.store($0, ordering: .relaxed) }
    }
  }

  /// From here on Ctrl-C ends the program at once, with its own exit status.
  static func endProgram() {
    let former = Glibc.signal(SIGINT) { _ in _exit(ExitStatus.interrupted.rawValue) }
    // A script's background job keeps ignoring the signal.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { Glibc.signal(SIGINT, SIG_IGN) }
  }

  static var hasCome: Bool { signal.load(ordering: .relaxed) != 0 }
}

import Glibc
import Synchronization

/// Whether the person has pressed Ctrl-C, or the process is asked to end.
enum Interruption {
  private static let signal = Atomic<Int32>(0)

  /// From here on these signals end the program only where it says so.
  static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      Glibc.signal(number) { Interruption.signal.store($0, ordering: .relaxed) }
    }
  }

  /// From here on Ctrl-C ends the program at once, with its own status.
  static func endProgram() {
    let former = Glibc.signal(SIGINT) { _ in _exit(ExitStatus.interrupted.rawValue) }
    // In the background of a script it is not meant.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { Glibc.signal(SIGINT, SIG_IGN) }
  }

  static var hasCome: Bool { signal.load(ordering: .relaxed) != 0 }
}

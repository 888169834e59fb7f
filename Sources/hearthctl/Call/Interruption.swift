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

  static var hasCome: Bool { signal.load(ordering: .relaxed) != 0 }
}

import Glibc
import Synchronization

/// Records Ctrl-Z for commands that draw on the whole terminal.
enum Suspension {
  private static let isAsked = Atomic(false)

  /// Starts recording the signal. The program must check `hasCome` and call `stop`.
  static func watch() {
    Glibc.signal(SIGTSTP) { _ in Suspension.isAsked.store(true, ordering: .relaxed) }
  }

  static var hasCome: Bool { isAsked.load(ordering: .relaxed) }

  /// Suspends the program as the signal would have done. Returns once it is resumed, or immediately if no shell could
  /// resume it.
  static func stop() {
    isAsked.store(false, ordering: .relaxed)
    Glibc.signal(SIGTSTP, SIG_DFL)
    raise(SIGTSTP)
    watch()
  }
}

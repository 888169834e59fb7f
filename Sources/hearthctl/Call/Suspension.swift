import Glibc
import Synchronization

/// Whether this process, which draws on the whole terminal, has been asked to stop with Ctrl-Z.
enum Suspension {
  private static let isAsked = Atomic(false)

  /// From here on the signal is only recorded; the program stops where it checks for it.
  static func watch() {
    Glibc.signal(SIGTSTP) { _ in Suspension.isAsked.store(true, ordering: .relaxed) }
  }

  static var hasCome: Bool { isAsked.load(ordering: .relaxed) }

  /// Stops as the signal would have done. Returns once the process is continued, or at once if there is no shell that
  /// could continue it.
  static func stop() {
    isAsked.store(false, ordering: .relaxed)
    Glibc.signal(SIGTSTP, SIG_DFL)
    raise(SIGTSTP)
    watch()
  }
}

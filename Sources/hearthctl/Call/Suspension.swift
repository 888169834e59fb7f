import Glibc
import Synchronization

/// Whether this process has been asked to stop until it is continued: Ctrl-Z, where it draws on the whole terminal.
enum Suspension {
  private static let isAsked = Atomic(false)

  /// From here on the signal stops the program only where it says so.
  static func watch() {
    Glibc.signal(SIGTSTP) { _ in Suspension.isAsked.store(true, ordering: .relaxed) }
  }

  static var hasCome: Bool { isAsked.load(ordering: .relaxed) }

  /// Stops as the signal would have done; returns once the process is continued, or at once where there is no shell that
  /// could continue it.
  static func stop() {
    isAsked.store(false, ordering: .relaxed)
    Glibc.signal(SIGTSTP, SIG_DFL)
    raise(SIGTSTP)
    watch()
  }
}

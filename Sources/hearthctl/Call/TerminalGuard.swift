import Glibc

/// Restores the terminal's settings if a signal ends the program while the user is typing.
enum TerminalGuard {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The terminal's original settings. A lock is not needed, because they are set before the handler is installed and
  /// only the handler reads them.
  nonisolated(unsafe) private static var saved = termios()
  nonisolated(unsafe) private static var former: [sigaction] = []

  static func begin(_ settings: termios) {
    saved = settings
    former = signals.map { number in
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        tcsetattr(STDIN_FILENO, TCSANOW, &TerminalGuard.saved)
        if number == SIGINT { _exit(ExitStatus.interrupted.rawValue) }
        signal(number, SIG_DFL)
        raise(number)
      }
      var before = sigaction()
      sigaction(number, &action, &before)
      return before
    }
  }

  static func end() {
    for (number, action) in zip(signals, former) {
      var action = action
      sigaction(number, &action, nil)
    }
  }
}

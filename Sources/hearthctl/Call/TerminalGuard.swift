import Glibc

/// While something is typed, the terminal has other settings: a signal that ends the program gives it its own back first.
enum TerminalGuard {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The settings of the terminal as it was. They are set before the handler is, and read by it alone.
  nonisolated(unsafe) private static var saved = termios()
  /// The handlers before these.
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

import Glibc
import HearthCore

/// Sanitizes text and, if `isColoured` is set, adds colours for a terminal.
struct Paint {
  enum Colour: String {
    case green = "32"
    case yellow = "33"
    case red = "31"
    case bold = "1"
    case faint = "2"

    init(_ session: SessionStatus) {
      switch ExitStatus(session) {
      case .done: self = session.history.failures > 0 || session.action != nil ? .yellow : .green
      case .later, .locked: self = .yellow
      case .signInNeeded, .failed, .noDaemon, .usage, .programUnusable, .programMissing, .interrupted: self = .red
      }
    }
  }

  let isColoured: Bool

  /// Uses colours if standard output is a terminal that supports them and NO_COLOR is not set.
  static var standard: Paint {
    Paint(isColoured: Output.isTerminal && variable("NO_COLOR") == nil && variable("TERM") != "dumb")
  }

  func callAsFunction(_ colour: Colour, _ text: String) -> String {
    isColoured ? "\u{1B}[\(colour.rawValue)m\(text.shown())\u{1B}[0m" : text.shown()
  }
}

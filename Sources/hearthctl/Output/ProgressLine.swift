import Glibc
import HearthCore

/// A line on standard error that is overwritten repeatedly. Without a terminal, nothing is shown.
enum ProgressLine {
  static var isShown: Bool { isatty(STDERR_FILENO) == 1 }

  static func show(_ text: String) { show([text]) }

  /// Shows the first of these texts that fits, or else truncates the last text, because a line that wraps cannot be
  /// overwritten.
  static func show(_ texts: [String]) {
    guard isShown, let last = texts.last else { return }
    let text = texts.first { $0.count <= Screen.room } ?? last
    Output.write("\r\u{1B}[K\(text.shown().prefix(Screen.room))", to: STDERR_FILENO)
  }

  static func clear() { show("") }

  /// Returns a progress bar such as `████░░░░ 3 of 8`.
  static func bar(_ done: Int, of total: Int, width: Int = 30, hasBlocks: Bool) -> String {
    let full = total > 0 ? min(max(done, 0), total) * width / total : 0
    let (on, off) = hasBlocks ? ("█", "░") : ("#", ".")
    return String(repeating: on, count: full) + String(repeating: off, count: width - full) + " \(done) of \(total)"
  }
}

import Glibc
import HearthCore

/// One line on the terminal for messages, which is overwritten again and again; nothing elsewhere.
enum ProgressLine {
  static var isShown: Bool { isatty(STDERR_FILENO) == 1 }

  static func show(_ text: String) { show([text]) }

  /// Shows the first of these strings that fits, or the beginning of the last one. A line that wraps could not be
  /// overwritten.
  static func show(_ texts: [String]) {
    guard isShown, let last = texts.last else { return }
    let text = texts.first { $0.count <= Screen.room } ?? last
    Output.write("\r\u{1B}[K\(text.shown().prefix(Screen.room))", to: STDERR_FILENO)
  }

  static func clear() { show("") }

  /// `████░░░░ 3 of 8`.
  static func bar(_ done: Int, of total: Int, width: Int = 30, hasBlocks: Bool) -> String {
    let full = total > 0 ? min(max(done, 0), total) * width / total : 0
    let (on, off) = hasBlocks ? ("█", "░") : ("#", ".")
    return String(repeating: on, count: full) + String(repeating: off, count: width - full) + " \(done) of \(total)"
  }
}

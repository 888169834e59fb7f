import Glibc

/// The whole terminal while a picture that changes is shown on it. What was there before comes back at the end, and while
/// the program is stopped.
struct LiveScreen: ~Copyable {
  /// How often an interruption is looked for.
  static let step: Duration = .milliseconds(250)

  /// It is nil if no keys are read.
  let keys: KeyInput?

  /// Until `body` returns or throws; a signal to end makes `Interruption.hasCome` true and no more, and one to stop is
  /// obeyed by `stopWhereAsked`.
  static func run(readingKeys: Bool = false, _ body: (borrowing LiveScreen) throws -> Void) rethrows {
    Interruption.watch()
    Suspension.watch()
    let screen = LiveScreen(keys: readingKeys ? KeyInput() : nil)
    screen.take()
    defer { screen.giveBack() }
    try body(screen)
  }

  /// Another screen, no cursor, and lines that are too long are cut (xterm's control sequences, "DEC Private Mode Set").
  private func take() {
    Output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l", to: STDOUT_FILENO)
    keys?.begin()
  }

  private func giveBack() {
    keys?.end()
    Output.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
  }

  /// After Ctrl-Z: gives the terminal back and stops. Says, once the program goes on, that there is nothing on the screen.
  func stopWhereAsked() -> Bool {
    guard Suspension.hasCome else { return false }
    giveBack()
    Suspension.stop()
    take()
    return true
  }

  /// In characters; that of a terminal of old where it does not tell.
  var size: (columns: Int, rows: Int) {
    guard let size = Screen.size(of: STDOUT_FILENO), size.columns > 0 else { return (80, 24) }
    return size
  }

  /// Puts a picture in the place of the one before, of which no empty screen is seen in between. Its parts were made fit
  /// to be shown.
  func draw(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(size.rows)
    let picture = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    Output.write("\u{1B}[?2026h\u{1B}[H\(picture)\u{1B}[J\u{1B}[?2026l", to: STDOUT_FILENO)
  }
}

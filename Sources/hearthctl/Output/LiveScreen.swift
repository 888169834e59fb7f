import Glibc

/// A full-screen picture that is updated in place. The terminal's previous content reappears at the end and while the
/// program is suspended.
struct LiveScreen: ~Copyable {
  /// The interval for checking whether Ctrl-C was pressed.
  static let step: Duration = .milliseconds(250)

  /// The keyboard input, or `nil` if the screen does not respond to keys.
  let keys: KeyInput?

  /// Shows the screen until `body` returns or throws. Ctrl-C sets `Interruption.hasCome`, which `body` must check.
  /// Ctrl-Z takes effect when `body` calls `stopWhereAsked`.
  static func run(readingKeys: Bool = false, _ body: (borrowing LiveScreen) throws -> Void) rethrows {
    Interruption.watch()
    Suspension.watch()
    let screen = LiveScreen(keys: readingKeys ? KeyInput() : nil)
    screen.take()
    defer { screen.giveBack() }
    try body(screen)
  }

  /// Switches to the alternate screen, hides the cursor and truncates long lines (xterm's control sequences, "DEC
  /// Private Mode Set").
  private func take() {
    Output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l", to: STDOUT_FILENO)
    keys?.begin()
  }

  private func giveBack() {
    keys?.end()
    Output.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
  }

  /// After Ctrl-Z, restores the terminal and suspends the program. Returns true after the program has resumed, so that
  /// the caller redraws the screen.
  func stopWhereAsked() -> Bool {
    guard Suspension.hasCome else { return false }
    giveBack()
    Suspension.stop()
    take()
    return true
  }

  /// The size in characters, or 80 by 24 if the terminal does not report it.
  var size: (columns: Int, rows: Int) {
    guard let size = Screen.size(of: STDOUT_FILENO), size.columns > 0 else { return (80, 24) }
    return size
  }

  /// Replaces the picture without flicker. The caller must sanitize the text.
  func draw(_ text: String) {
    Output.write(Self.frame(text, rows: size.rows), to: STDOUT_FILENO)
  }

  /// Returns the control sequences for a picture. Each line is cleared before it is written, because after a full-width
  /// line the cursor stays on the last character.
  static func frame(_ text: String, rows: Int) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
    let picture = lines.map { "\u{1B}[K\($0)" }.joined(separator: "\r\n")
    let rest = lines.count < rows ? "\r\n\u{1B}[J" : ""
    return "\u{1B}[?2026h\u{1B}[H\(picture)\(rest)\u{1B}[?2026l"
  }
}

import Glibc

/// The whole terminal while a changing picture is shown. Its previous content returns at the end, and while the program
/// is stopped.
struct LiveScreen: ~Copyable {
  /// How often to check for an interruption.
  static let step: Duration = .milliseconds(250)

  /// The keys; `nil` if none are read.
  let keys: KeyInput?

  /// Shows the screen until `body` returns or throws. A signal to end only sets `Interruption.hasCome`;
  /// `stopWhereAsked` obeys a signal to stop.
  static func run(readingKeys: Bool = false, _ body: (borrowing LiveScreen) throws -> Void) rethrows {
    Interruption.watch()
    Suspension.watch()
    let screen = LiveScreen(keys: readingKeys ? KeyInput() : nil)
    screen.take()
    defer { screen.giveBack() }
    try body(screen)
  }

  /// Switches to the alternate screen, hides the cursor, and cuts long lines (xterm's control sequences, "DEC Private
  /// Mode Set").
  private func take() {
    Output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l", to: STDOUT_FILENO)
    keys?.begin()
  }

  private func giveBack() {
    keys?.end()
    Output.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
  }

  /// After Ctrl-Z, gives the terminal back and stops. Returns true once the program continues, because the screen is
  /// then empty.
  func stopWhereAsked() -> Bool {
    guard Suspension.hasCome else { return false }
    giveBack()
    Suspension.stop()
    take()
    return true
  }

  /// The size in characters; 80 by 24 if the terminal does not report it.
  var size: (columns: Int, rows: Int) {
    guard let size = Screen.size(of: STDOUT_FILENO), size.columns > 0 else { return (80, 24) }
    return size
  }

  /// Replaces the picture without an empty screen in between. The caller must have made all parts safe to show.
  func draw(_ text: String) {
    Output.write(Self.frame(text, rows: size.rows), to: STDOUT_FILENO)
  }

  /// Returns what to write to the terminal. Each line is erased before it is written, because after a line as wide as
  /// the screen the cursor is still on the last character.
  static func frame(_ text: String, rows: Int) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
    let picture = lines.map { "\u{1B}[K\($0)" }.joined(separator: "\r\n")
    let rest = lines.count < rows ? "\r\n\u{1B}[J" : ""
    return "\u{1B}[?2026h\u{1B}[H\(picture)\(rest)\u{1B}[?2026l"
  }
}

import Glibc

/// The size and capabilities of the terminal that shows messages.
struct Screen {
  let columns: Int
  let rows: Int
  /// Whether the terminal supports block characters and colours.
  let canDraw: Bool

  /// The terminal on standard error, or `nil` if standard error is redirected.
  static var current: Screen? {
    size(of: STDERR_FILENO).map { Screen(columns: $0.columns, rows: $0.rows, canDraw: canDraw(variable)) }
  }

  /// Returns the size in characters, or `nil` if this is not a terminal. If a terminal does not report its size, the
  /// number of columns is 0.
  static func size(of terminal: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard isatty(terminal) == 1, ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// The number of characters that fit on a line without wrapping, or `Int.max` if it is unknown.
  static var room: Int { current.flatMap { $0.columns > 1 ? $0.columns - 1 : nil } ?? .max }

  /// Returns whether block characters and colours can be used. `variable` reads the environment.
  static func canDraw(_ variable: (String) -> String?) -> Bool {
    isUTF8(variable) && variable("NO_COLOR") == nil && obeysSequences(variable)
  }

  /// Returns whether the terminal understands control sequences. A "dumb" terminal (terminfo) does not.
  static func obeysSequences(_ variable: (String) -> String?) -> Bool {
    !["dumb", nil].contains(variable("TERM"))
  }

  /// Returns whether the locale uses UTF-8. The first of these variables that is set determines the locale (locale(7)).
  static func isUTF8(_ variable: (String) -> String?) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first ?? "C"
    return ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
  }

  /// Returns the largest QR code that fits above `others` lines of text, or `nil` if none fits. The standard requires a
  /// margin of four modules (ISO/IEC 18004, 6.3.8), but readers tolerate a margin of two.
  func qrCode(of address: String, others: Int) -> [String]? {
    guard canDraw, let code = QRCode(address) else { return nil }
    return [4, 2].lazy.filter { code.size + 2 * $0 <= columns && (code.size + 2 * $0 + 1) / 2 + others <= rows }
      .first.map(code.lines)
  }
}

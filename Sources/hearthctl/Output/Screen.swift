import Glibc

/// The terminal that shows messages, and what it can draw.
struct Screen {
  let columns: Int
  let rows: Int
  /// Whether it can show block characters and colours.
  let canDraw: Bool

  /// The terminal; `nil` if messages go elsewhere.
  static var current: Screen? {
    size(of: STDERR_FILENO).map { Screen(columns: $0.columns, rows: $0.rows, canDraw: canDraw(variable)) }
  }

  /// The size in characters; `nil` if it is not a terminal. A terminal that does not report its size has zero columns.
  static func size(of terminal: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard isatty(terminal) == 1, ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// How many characters certainly fit on a line without wrapping; no limit if unknown.
  static var room: Int { current.flatMap { $0.columns > 1 ? $0.columns - 1 : nil } ?? .max }

  /// `variable` reads the environment.
  static func canDraw(_ variable: (String) -> String?) -> Bool {
    isUTF8(variable) && variable("NO_COLOR") == nil && obeysSequences(variable)
  }

  /// Whether the cursor can be moved, so that one picture can replace another (terminfo's "dumb" cannot).
  static func obeysSequences(_ variable: (String) -> String?) -> Bool {
    !["dumb", nil].contains(variable("TERM"))
  }

  /// The first locale variable that is set counts (locale(7)).
  static func isUTF8(_ variable: (String) -> String?) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first ?? "C"
    return ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
  }

  /// The lines of a QR code of this address, as large as fits together with `others` lines below it; `nil` if it does
  /// not fit. The standard's margin is four modules (ISO/IEC 18004, 6.3.8), but readers manage with two.
  func qrCode(of address: String, others: Int) -> [String]? {
    guard canDraw, let code = QRCode(address) else { return nil }
    return [4, 2].lazy.filter { code.size + 2 * $0 <= columns && (code.size + 2 * $0 + 1) / 2 + others <= rows }
      .first.map(code.lines)
  }
}

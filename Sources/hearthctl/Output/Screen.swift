import Glibc

/// The terminal that people read messages on, as far as it matters for what is drawn there.
struct Screen {
  let columns: Int
  let rows: Int
  /// Block characters can be shown, and colours set.
  let canDraw: Bool

  /// It is nil if messages go elsewhere.
  static var current: Screen? {
    size(of: STDERR_FILENO).map { Screen(columns: $0.columns, rows: $0.rows, canDraw: canDraw(variable)) }
  }

  /// In characters; nil if it is no terminal. One that does not tell has none.
  static func size(of terminal: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard isatty(terminal) == 1, ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// How many characters surely do not wrap: any number where nobody knows.
  static var room: Int { current.flatMap { $0.columns > 1 ? $0.columns - 1 : nil } ?? .max }

  /// `variable` gives what is set in the environment.
  static func canDraw(_ variable: (String) -> String?) -> Bool {
    isUTF8(variable) && variable("NO_COLOR") == nil && obeysSequences(variable)
  }

  /// A cursor can be moved, so that one picture takes the place of another (terminfo's "dumb" can do nothing).
  static func obeysSequences(_ variable: (String) -> String?) -> Bool {
    !["dumb", nil].contains(variable("TERM"))
  }

  /// Of the variables for the locale the first that is set counts (locale(7)).
  static func isUTF8(_ variable: (String) -> String?) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first ?? "C"
    return ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
  }

  /// The lines of a QR code of this address, as large as there is room for, with `others` lines below it; nil if it
  /// does not fit. The margin of the standard is four modules (ISO/IEC 18004, 6.3.8); readers manage with two.
  func qrCode(of address: String, others: Int) -> [String]? {
    guard canDraw, let code = QRCode(address) else { return nil }
    return [4, 2].lazy.filter { code.size + 2 * $0 <= columns && (code.size + 2 * $0 + 1) / 2 + others <= rows }
      .first.map(code.lines)
  }
}

import Glibc

/// Reads single keys from the terminal, at once and without echo.
struct KeyInput {
  /// The terminal's original settings.
  private let before: termios

  init() {
    var before = termios()
    tcgetattr(STDIN_FILENO, &before)
    self.before = before
  }

  func begin() {
    var settings = before
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &settings.c_cc) { control in
      control[Int(VMIN)] = 0
      control[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// Restores the terminal.
  func end() {
    var before = before
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
  }

  /// The keys pressed since the last call.
  func pressed() -> [TopKey] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    return count > 0 ? TopKey.read(Array(bytes.prefix(count))) : []
  }
}

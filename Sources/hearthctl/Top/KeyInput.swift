import Glibc

/// Reads single keys from the terminal, without echo.
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

  /// Restores the terminal's settings. Unread input remains for the shell.
  func end() {
    var before = before
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
  }

  /// Returns the keys pressed since the last call, up to the quit key.
  func pressed() -> [TopKey] {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count < 64, TopKey.read(bytes).last != .quit, read(STDIN_FILENO, &byte, 1) == 1 { bytes.append(byte) }
    return TopKey.read(bytes)
  }
}

import Glibc

/// The terminal while single keys are read from it: without echo, and each at once.
enum KeyInput {
  /// The terminal is as before when `body` has returned or thrown.
  static func run<T>(_ body: () throws -> T) rethrows -> T {
    var before = termios()
    tcgetattr(STDIN_FILENO, &before)
    var settings = before
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &settings.c_cc) { control in
      control[Int(VMIN)] = 0
      control[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    return try body()
  }

  /// What was pressed since.
  static func pressed() -> [TopKey] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    return count > 0 ? TopKey.read(Array(bytes.prefix(count))) : []
  }
}

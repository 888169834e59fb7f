import Glibc

enum TopKey: Equatable {
  case up, down, quit
  case act(Action)

  /// An action for the daemon to perform on the selected account.
  enum Action {
    case lock, unlock, refresh, again, retry, pause
  }

  /// Parses keys from the terminal's bytes. Recognizes letters and the sequences of arrow keys in both cursor key modes
  /// (ECMA-48; xterm).
  static func read(_ bytes: [UInt8]) -> [TopKey] {
    var keys: [TopKey] = []
    var rest = bytes[...]
    while let first = rest.popFirst() {
      if first == 0x1B, let introducer = rest.first, introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O")
      {
        rest = rest.dropFirst()
        // Skip the parameters, which precede the final byte of a sequence.
        rest = rest.drop { !(0x40...0x7E).contains($0) }
        switch rest.popFirst() {
        case UInt8(ascii: "A"): keys.append(.up)
        case UInt8(ascii: "B"): keys.append(.down)
        default: break
        }
      } else if let key = key(Character(UnicodeScalar(first))) {
        keys.append(key)
      }
    }
    return keys
  }

  private static func key(_ letter: Character) -> TopKey? {
    switch letter {
    case "k": .up
    case "j": .down
    case "l": .act(.lock)
    case "u": .act(.unlock)
    case "r": .act(.refresh)
    case "a": .act(.again)
    case "t": .act(.retry)
    case "p": .act(.pause)
    case "q", "\u{3}": .quit
    default: nil
    }
  }

  static let help = [
    "q quit", "↑↓ choose", "l lock", "u unlock", "r refresh", "a retry", "p pause", "t retry dead",
  ]
}

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

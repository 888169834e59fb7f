import Glibc

/// A line of up to 1 MiB that the user types or pastes into the terminal.
///
/// The kernel's line editing silently drops everything beyond 4,095 bytes (termios(3), "Canonical and noncanonical
/// mode"). This type therefore turns line editing off. It implements the echo itself, and the keys that erase a
/// character, a word or the line.
struct TypedLine {
  /// The number of bytes of a line that the kernel's line editing keeps.
  static let kernelLimit = 4095
  /// The maximum length in bytes. URLs, passwords and tokens are far shorter.
  private static let limit = 1 << 20

  /// The terminal's original settings.
  let before: termios
  private let isEchoed: Bool
  private var bytes: [UInt8] = []
  private var isTooLong = false

  private enum Step { case going, line, end }

  /// Prepares to read from standard input. Returns `nil` if standard input is not a terminal, or if this program runs
  /// in the background and must not use the terminal.
  init?(echo: Bool) {
    var settings = termios()
    guard Self.isForeground, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    before = settings
    isEchoed = echo && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Whether the current line is empty.
  var isEmpty: Bool { bytes.isEmpty }

  /// Turns off the kernel's line editing. If `dropsEarlier` is set, discards earlier input.
  func begin(dropsEarlier: Bool) {
    var settings = before
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &settings.c_cc) { control in
      control[Int(VMIN)] = 1
      control[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, dropsEarlier ? TCSAFLUSH : TCSANOW, &settings)
  }

  /// Restores the terminal's settings.
  func end(dropsEarlier: Bool) {
    var before = before
    tcsetattr(STDIN_FILENO, dropsEarlier ? TCSAFLUSH : TCSANOW, &before)
  }

  /// Waits for a line. Returns `nil` at end of file.
  mutating func next() throws -> String? {
    while true {
      switch read() {
      case .going: continue
      case .line: return try taken()
      case .end: return nil
      }
    }
  }

  /// Returns the line that the user has typed, or `nil` if the line is empty or incomplete. Keeps an incomplete line
  /// for the next call.
  mutating func waiting() throws -> String? {
    guard Self.isForeground else { return nil }
    // Turn off line editing again, because a shell that resumed this program may have restored its own settings.
    begin(dropsEarlier: false)
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, 0) == 1, input.revents & Int16(POLLIN) != 0 {
      switch read() {
      case .going: continue
      case .line:
        let line = try taken()
        return line.isEmpty ? nil : line
      case .end: return nil
      }
    }
    return nil
  }

  /// Whether this process may use the terminal. A terminal that is not the process's controlling terminal has no
  /// foreground group, so any process may use it.
  private static var isForeground: Bool {
    let group = tcgetpgrp(STDIN_FILENO)
    return group < 0 || group == getpgrp()
  }

  private mutating func taken() throws -> String {
    defer { (bytes, isTooLong) = ([], false) }
    guard !isTooLong else {
      throw CommandFailure(.failed, "The typed text is longer than \(Self.limit >> 20) MiB. Nothing was sent.")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a single byte, so that nothing beyond the current line is consumed.
  private mutating func read() -> Step {
    var byte: UInt8 = 0
    let count = Glibc.read(STDIN_FILENO, &byte, 1)
    if count < 0, errno == EINTR { return .going }
    // Ignore an incomplete line at end of file.
    guard count == 1 else { return .end }
    return take(byte)
  }

  private mutating func take(_ byte: UInt8) -> Step {
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
      echo("\r\n")
      return .line
    case key(VEOF): return bytes.isEmpty ? .end : .line
    case key(VERASE), 0x08: eraseLetter()
    case key(VKILL): while !bytes.isEmpty { eraseLetter() }
    case key(VWERASE):
      while bytes.last == UInt8(ascii: " ") { eraseLetter() }
      while let last = bytes.last, last != UInt8(ascii: " ") { eraseLetter() }
    default:
      if bytes.count < Self.limit { bytes.append(byte) } else { isTooLong = true }
      if byte >= 0x20, byte != 0x7F { echo([byte]) }
    }
    return .going
  }

  /// Returns one of the terminal's control keys, or NUL if the key is disabled (termios(3), `_POSIX_VDISABLE`).
  private func key(_ index: Int32) -> UInt8 {
    var control = before.c_cc
    return withUnsafeBytes(of: &control) { $0[Int(index)] }
  }

  private mutating func eraseLetter() {
    var last = bytes.popLast()
    // Remove all bytes of a UTF-8 character.
    while let byte = last, byte & 0xC0 == 0x80 { last = bytes.popLast() }
    if let last, last >= 0x20 { echo("\u{8} \u{8}") }
  }

  private func echo(_ text: String) { echo(Array(text.utf8)) }

  /// Echoes text to stderr. If stderr is redirected, echoes to the terminal instead.
  private func echo(_ shown: [UInt8]) {
    guard isEchoed else { return }
    _ = WholeFile.write(shown, to: isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : STDIN_FILENO)
  }
}

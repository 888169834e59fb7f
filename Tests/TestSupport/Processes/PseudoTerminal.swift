import Glibc

/// A terminal with the test as its user, which types and sees everything that is shown.
package final class PseudoTerminal {
  package let path: String
  private let master: Int32
  /// Keeps the settings that a program leaves behind.
  private let terminal: Int32
  private var bytes: [UInt8] = []

  package init() {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlocked: Int32 = 0
    _ = ioctl(master, UInt(0x4004_5431), &unlocked)  // TIOCSPTLCK, ioctl_tty(2)
    var number: Int32 = 0
    _ = ioctl(master, UInt(0x8004_5430), &number)  // TIOCGPTN
    path = "/dev/pts/\(number)"
    terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
  }

  deinit {
    close(terminal)
    close(master)
  }

  /// Types text. If the text is long, waits until the program reads it.
  package func type(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    write(master, bytes, bytes.count)
  }

  /// All output so far.
  package var shown: String {
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    defer { _ = fcntl(master, F_SETFL, 0) }
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(master, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// Whether the terminal has these local modes (termios(3)).
  package func has(_ modes: Int32...) -> Bool {
    var settings = termios()
    tcgetattr(terminal, &settings)
    return modes.allSatisfy { settings.c_lflag & tcflag_t($0) != 0 }
  }
}

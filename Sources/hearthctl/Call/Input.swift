import ArgumentParser
import Glibc
import HearthCore

/// What hearthctl reads: standard input, files, and what a person types.
enum Input {
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Everything on standard input.
  static func all() throws -> [UInt8] {
    guard let bytes = read(STDIN_FILENO) else {
      throw CommandFailure(.failed, "Standard input cannot be read: \(String(cString: strerror(errno))).")
    }
    return bytes
  }

  static func file(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let bytes = read(descriptor) else {
      throw CommandFailure(.failed, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
    return bytes
  }

  /// A secret: typed without echo where standard input is a terminal, else its first line.
  static func secret(prompt: String) throws -> String {
    if isTerminal { return try ask(prompt, echo: false) }
    guard let line = readLine(strippingNewline: true), !line.isEmpty else {
      throw ValidationError("Standard input is empty: the passphrase must be its first line.")
    }
    return line
  }

  /// Asks on the terminal; the caller has made sure that there is one.
  static func ask(_ prompt: String, echo: Bool = true) throws -> String {
    var saved = termios()
    let isSilent = !echo && tcgetattr(STDIN_FILENO, &saved) == 0
    if isSilent {
      var silent = saved
      silent.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    }
    defer {
      if isSilent {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
        Output.write("\n", to: STDERR_FILENO)
      }
    }
    // Not before the echo is off: what is typed at a prompt must not be shown.
    Output.write(prompt.shown(), to: STDERR_FILENO)
    guard let line = readLine(strippingNewline: true), !line.isEmpty else {
      throw CommandFailure(.failed, "Nothing was typed.")
    }
    return line
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        return nil
      }
      bytes.append(contentsOf: chunk[..<count])
    }
  }
}

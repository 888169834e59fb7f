import ArgumentParser
import Glibc
import HearthCore

/// What hearthctl reads: standard input, files, and what a person types.
enum Input {
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Everything on standard input.
  static func all() throws -> [UInt8] {
    guard let bytes = WholeFile.read(STDIN_FILENO) else {
      throw CommandFailure(.failed, "Standard input cannot be read: \(reason()).")
    }
    return bytes
  }

  static func file(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let bytes = WholeFile.read(descriptor) else {
      throw CommandFailure(.failed, "\(path) cannot be read: \(reason()).")
    }
    return bytes
  }

  /// A secret: typed without echo where standard input is a terminal, else its first line.
  static func secret(prompt: String, name: String = "passphrase") throws -> String {
    if isTerminal { return try ask(prompt, echo: false) }
    guard let line = secretLine(), !line.isEmpty else {
      throw ValidationError("Standard input is empty: the \(name) must be its first line.")
    }
    return line
  }

  /// Asks twice on the terminal, for a mistake would lock the credential for good.
  static func newPassphrase(of account: some CustomStringConvertible) throws -> String {
    let passphrase = try ask("New passphrase for \(account): ", echo: false)
    guard try ask("Again: ", echo: false) == passphrase else {
      throw CommandFailure(.failed, "The two passphrases are not the same: nothing was set.")
    }
    return passphrase
  }

  /// A line that has been typed already; nil where there is none, or it is empty.
  static func waitingLine() -> String? {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&input, 1, 0) == 1, input.revents & Int16(POLLIN) != 0, let line = secretLine(), !line.isEmpty else {
      return nil
    }
    return line
  }

  /// Asks on the terminal; the caller has made sure that there is one.
  static func ask(_ prompt: String, echo: Bool = true) throws -> String {
    var saved = termios()
    let isSilent = !echo && tcgetattr(STDIN_FILENO, &saved) == 0
    if isSilent {
      HiddenInput.begin(saved)
      var silent = saved
      silent.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    }
    defer {
      if isSilent {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
        HiddenInput.end()
        Output.write("\n", to: STDERR_FILENO)
      }
    }
    // Not before the echo is off: what is typed at a prompt must not be shown.
    Output.write(prompt.shown(), to: STDERR_FILENO)
    guard let line = secretLine(), !line.isEmpty else {
      throw CommandFailure(.failed, "Nothing was typed.")
    }
    return line
  }

  /// What is typed in answer to a question, which may be nothing; nil where the terminal has ended.
  static func answer(_ question: String) throws -> String? {
    Output.write(question.shown(), to: STDERR_FILENO)
    return secretLine()?.trimmingBlanks()
  }

  /// The next line of standard input, without its end; nil where there is none. Read byte by byte, since the buffer of
  /// a stream would keep what went through it until the program ends.
  private static func secretLine() -> String? {
    var line: [UInt8] = []
    while true {
      var byte: UInt8 = 0
      let count = Glibc.read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      if count <= 0, line.isEmpty { return nil }
      guard count > 0, byte != UInt8(ascii: "\n") else { break }
      line.append(byte)
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return String(decoding: line, as: UTF8.self)
  }
}

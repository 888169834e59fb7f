import ArgumentParser
import Glibc
import HearthControl
import HearthCore

enum Input {
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  static func all() throws -> [UInt8] {
    guard let bytes = WholeFile.read(STDIN_FILENO) else {
      throw CommandFailure(.failed, "Standard input cannot be read: \(reason()).")
    }
    if isTerminal { try requireWhole(bytes) }
    return bytes
  }

  /// Throws if the terminal may have truncated a line, because terminals silently drop the end of long lines.
  static func requireWhole(_ typed: [UInt8]) throws {
    let longest = typed.split(separator: UInt8(ascii: "\n")).map(\.count).max() ?? 0
    guard longest >= TypedLine.kernelLimit else { return }
    throw CommandFailure(
      .failed,
      "The typed text may be truncated, because the terminal accepts only \(TypedLine.kernelLimit) bytes per line. "
        + "It was not sent. Pass it in a file or through a pipe.")
  }

  static func file(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let bytes = WholeFile.read(descriptor) else {
      throw CommandFailure(.failed, "\(path) cannot be read: \(reason()).")
    }
    return bytes
  }

  /// Reads a secret from a terminal without echo, or from the first line of standard input.
  static func secret(prompt: String, name: String = "passphrase") throws -> String {
    if isTerminal { return try ask(prompt, echo: false) }
    guard let line = secretLine(), !line.isEmpty else {
      throw ValidationError("The first line of standard input must contain the \(name), but it is empty.")
    }
    return line
  }

  /// Extracts a secret from the user's input. An error message starts with `name` and ends with `consequence`.
  static func secret(
    _ kind: SecretText.Kind, in bytes: [UInt8], of name: String, else consequence: String
  ) throws -> Secret {
    do {
      return try SecretText.secret(kind, in: bytes)
    } catch {
      throw CommandFailure(.failed, "\(name) \(error). \(consequence)")
    }
  }

  /// Asks for a new passphrase twice, because a credential sealed with a mistyped passphrase could not be opened again.
  static func newPassphrase(of account: some CustomStringConvertible) throws -> String {
    let passphrase = try ask("New passphrase for \(account): ", echo: false)
    guard try ask("Repeat the passphrase: ", echo: false) == passphrase else {
      throw CommandFailure(.failed, "The passphrases do not match, so no passphrase was set.")
    }
    return passphrase
  }

  /// Asks the user for a nonempty line. The caller must have checked that standard input is a terminal.
  static func ask(_ prompt: String, echo: Bool = true) throws -> String {
    guard let line = try typed(prompt, echo: echo), !line.isEmpty else {
      throw CommandFailure(.failed, "Nothing was entered.")
    }
    return line
  }

  /// Asks a question. Returns the answer, which may be empty, or `nil` at end of file.
  static func answer(_ question: String, echo: Bool = true) throws -> String? {
    try typed(question, echo: echo)?.trimmingBlanks()
  }

  private static func typed(_ prompt: String, echo: Bool) throws -> String? {
    guard var line = TypedLine(echo: echo) else {
      Output.prompt(prompt.shown())
      return secretLine()
    }
    TerminalGuard.begin(line.before)
    line.begin(dropsEarlier: !echo)
    defer {
      line.end(dropsEarlier: !echo)
      TerminalGuard.end()
      if !echo { Output.write("\n", to: STDERR_FILENO) }
    }
    // Print the prompt after turning off the echo, so that nothing the user types is visible.
    Output.prompt(prompt.shown())
    return try line.next()
  }

  /// Returns the next line of standard input, or `nil` at end of file. Reads byte by byte, because a buffered stream
  /// would keep the secret in memory.
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

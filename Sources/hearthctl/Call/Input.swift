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
    if isTerminal { try requireWhole(bytes) }
    return bytes
  }

  /// Refuses lines that the terminal may have cut: it keeps the beginning of a long one without a word.
  static func requireWhole(_ typed: [UInt8]) throws(CommandFailure) {
    let longest = typed.split(separator: UInt8(ascii: "\n")).map(\.count).max() ?? 0
    guard longest >= TypedLine.kernelLimit else { return }
    throw CommandFailure(
      .failed,
      "What was typed may be cut: the terminal keeps only \(TypedLine.kernelLimit) bytes of a line. Give the text as a file "
        + "or through a pipe. Nothing was sent.")
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

  /// Asks on the terminal; the caller has made sure that there is one.
  static func ask(_ prompt: String, echo: Bool = true) throws -> String {
    guard let line = try typed(prompt, echo: echo), !line.isEmpty else {
      throw CommandFailure(.failed, "Nothing was typed.")
    }
    return line
  }

  /// What is typed in answer to a question, which may be nothing; nil if the terminal has ended.
  static func answer(_ question: String, echo: Bool = true) throws -> String? {
    try typed(question, echo: echo)?.trimmingBlanks()
  }

  private static func typed(_ prompt: String, echo: Bool) throws -> String? {
    guard var line = TypedLine(echo: echo) else {
      Output.write(prompt.shown(), to: STDERR_FILENO)
      return secretLine()
    }
    TerminalGuard.begin(line.before)
    line.begin(dropsEarlier: !echo)
    defer {
      line.end(dropsEarlier: !echo)
      TerminalGuard.end()
      if !echo { Output.write("\n", to: STDERR_FILENO) }
    }
    // Not before the echo is off: what is typed at a prompt must not be shown.
    Output.write(prompt.shown(), to: STDERR_FILENO)
    return try line.next()
  }

  /// The next line of standard input, without its end; nil if there is none. Read byte by byte, since the buffer of
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

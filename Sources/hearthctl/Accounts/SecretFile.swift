import ArgumentParser
import Glibc
import HearthControl
import HearthCore

/// A client secret and the path of its file. The file is beside the configuration, and only its owner can read it.
struct SecretFile {
  let path: String
  let secret: Secret

  /// Returns the path for the secret. If `configuration` is a link, the path is beside the link, because the target may
  /// be in a repository.
  static func path(for account: AccountName, beside configuration: String) throws -> String {
    let folder = configuration[...(configuration.lastIndex(of: "/") ?? configuration.startIndex)]
    let path = "\(folder)\(account).secret"
    guard !WholeFile.exists(path) else {
      throw CommandFailure(
        .failed, "The file \(path) already exists. Use it with --client-secret-file, or remove it first.")
    }
    return path
  }

  /// Asks the user without echo. Returns `nil` for a client without a secret.
  static func asked(for account: AccountName, beside configuration: String) throws -> SecretFile? {
    guard
      let typed = try Input.answer(
        "Client secret (leave empty if there is none): ", echo: false), !typed.isEmpty
    else {
      return nil
    }
    return SecretFile(
      path: try path(for: account, beside: configuration),
      secret: try secret(in: Array(typed.utf8), of: "The typed text"))
  }

  /// Reads the secret from standard input, without echo on a terminal.
  static func read(for account: AccountName, beside configuration: String) throws -> SecretFile {
    let path = try path(for: account, beside: configuration)
    if Input.isTerminal {
      let typed = try Input.ask("Client secret: ", echo: false)
      return SecretFile(path: path, secret: try secret(in: Array(typed.utf8), of: "The typed text"))
    }
    let bytes = try Input.all()
    guard !bytes.isEmpty else {
      throw ValidationError("Standard input is empty, but must contain the client's secret.")
    }
    return SecretFile(path: path, secret: try secret(in: bytes, of: "Standard input"))
  }

  /// Extracts the client secret from the user's input. `name` is the start of the error message.
  @discardableResult
  static func secret(in bytes: [UInt8], of name: String) throws -> Secret {
    try Input.secret(.clientSecret, in: bytes, of: name, else: "Nothing was written.")
  }

  fileprivate func write() throws {
    guard WholeFile.create(Array((secret.reveal() + "\n").utf8), at: path) else {
      throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    }
  }
}

extension SecretFile? {
  /// Runs `change` with a function that writes the secret file. `change` must call this function immediately before the
  /// change takes effect. If `change` then fails, the file is removed.
  func writing<Result>(_ change: (() throws -> Void) throws -> Result) throws -> Result {
    var isWritten = false
    do {
      return try change {
        try self?.write()
        isWritten = self != nil
      }
    } catch {
      if isWritten, let self { unlink(self.path) }
      throw error
    }
  }
}

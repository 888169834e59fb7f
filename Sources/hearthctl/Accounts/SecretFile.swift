import ArgumentParser
import Glibc
import HearthControl
import HearthCore

/// A client's secret that was typed in, and the file that it is kept in: beside the configuration, for its owner alone.
struct SecretFile {
  let path: String
  private let secret: Secret

  /// Reads the secret from standard input, without echo on a terminal. `configuration` as it is named: a link to a file
  /// elsewhere, which may be in a repository, takes no secret there.
  init(for account: AccountName, beside configuration: String) throws {
    path = configuration[...(configuration.lastIndex(of: "/") ?? configuration.startIndex)] + "\(account).secret"
    guard !ConfigurationPlace.exists(path) else {
      throw CommandFailure(
        .failed, "There is a file \(path) already: name it with --client-secret-file, or remove it first.")
    }
    guard !Input.isTerminal else {
      secret = try Self.secret(in: Array(try Input.ask("Client secret: ", echo: false).utf8), of: "What was typed")
      return
    }
    let bytes = try Input.all()
    guard !bytes.isEmpty else { throw ValidationError("Standard input is empty: it must hold the client's secret.") }
    secret = try Self.secret(in: bytes, of: "Standard input")
  }

  /// Finds the client's secret in what a person has given as that. `name` begins the sentence of a refusal.
  @discardableResult
  static func secret(in bytes: [UInt8], of name: String) throws(CommandFailure) -> Secret {
    do {
      return try SecretText.secret(.clientSecret, in: bytes)
    } catch {
      throw CommandFailure(.failed, "\(name) \(error.reason). Nothing was written.")
    }
  }

  fileprivate func write() throws(CommandFailure) {
    guard WholeFile.create(Array((secret.reveal() + "\n").utf8), at: path) else {
      throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    }
  }
}

extension SecretFile? {
  /// Carries out a change that calls what it is given right before it counts: then the file is written. It is removed
  /// where the change fails after that.
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

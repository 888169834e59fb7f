import HearthControl
import HearthCore

/// A configured file that contains a secret, a key or certificates. Hearth reads the file for each use, so a new
/// version takes effect immediately.
package struct ClientFile: Hashable, Sendable {
  /// A description of the content for messages, such as `client secret`.
  let name: String
  let path: String
  /// Maximum size of the file, in bytes.
  var limit = 1 << 16
  /// Whether to reject the file if other users can read or write it.
  var isSecret = false

  /// The path to show in messages. The path of a secret's file is masked, because some users configure the secret
  /// itself instead of a path.
  var place: String { isSecret ? "a file with \(path.withoutContent)" : path }

  private func read(from files: any FileSystem) async throws(RefreshFailure) -> [UInt8] {
    let contents: FileContents
    do {
      contents = try await files.read(path, limit: limit, followsLink: true)
    } catch {
      let message = "Cannot read the \(name) in \(place): \(reason(of: error))."
      switch error {
      case .unanswered, .volumeUnavailable, .keyUnavailable: throw .unavailable(message: message, retryAfter: nil)
      case .absent, .exists, .permissionDenied, .noSpace, .symbolicLink, .notRegular, .notOwn, .tooBig, .failed:
        throw .misconfigured(message: message)
      }
    }
    guard !isSecret || !contents.status.exposesSecret else {
      throw .misconfigured(
        message:
          "Cannot use the \(name) in \(place), because other users can read or write the file. Run \"chmod go=\" "
          + "on it.")
    }
    return contents.bytes
  }

  func secret(from files: any FileSystem) async throws(RefreshFailure) -> Secret {
    let bytes = try await read(from: files)
    do {
      return try SecretText.secret(.clientSecret, in: bytes)
    } catch {
      throw .misconfigured(message: "Cannot use the \(name) in \(place), because the file \(error).")
    }
  }

  /// Reads the file as UTF-8 text, without a byte order mark. Throws if the file is UTF-16, which some editors write.
  func text(from files: any FileSystem) async throws(RefreshFailure) -> String {
    let bytes = try await read(from: files)
    guard !bytes.hasUTF16Mark else {
      throw .misconfigured(
        message:
          "Cannot use the \(name) in \(place), because the file is UTF-16 text. Save it as UTF-8.")
    }
    return String(decoding: bytes.withoutByteOrderMark, as: UTF8.self)
  }

  private func reason(of error: FileError) -> String {
    switch error {
    case .absent: "no such file"
    case .permissionDenied: "permission denied"
    case .unanswered(let limit): "no response within \(limit.components.seconds) s"
    case .notRegular: "not a regular file"
    case .tooBig: "larger than \(limit >> 10) KiB"
    case .volumeUnavailable(let text), .keyUnavailable(let text), .failed(let text): text
    case .exists, .noSpace, .symbolicLink, .notOwn: "\(error)"
    }
  }
}

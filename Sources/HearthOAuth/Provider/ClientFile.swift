package import HearthCore

/// A file that the configuration names: a secret, a key, certificates. It is read each time it is used, so that a new one
/// counts at once.
package struct ClientFile: Sendable {
  /// What it holds, as a message says it: `client secret`.
  let what: String
  let path: String
  private let files: any FileSystem
  /// In bytes.
  private let limit: Int

  package init(_ what: String, at path: String, files: any FileSystem, limit: Int = 1 << 16) {
    self.what = what
    self.path = path
    self.files = files
    self.limit = limit
  }

  func read() async throws(RefreshFailure) -> [UInt8] {
    do {
      return try await files.read(path, limit: limit, followsLink: true).bytes
    } catch {
      let message = "The \(what) cannot be read: \(path): \(reason(of: error))."
      switch error {
      case .unanswered, .volumeUnavailable, .keyUnavailable: throw .unavailable(message: message, retryAfter: nil)
      case .absent, .exists, .permissionDenied, .noSpace, .symbolicLink, .notRegular, .notOwn, .tooBig, .failed:
        throw .misconfigured(message: message)
      }
    }
  }

  private func reason(of error: FileError) -> String {
    switch error {
    case .absent: "there is no such file"
    case .permissionDenied: "permission denied"
    case .unanswered(let limit): "no answer in \(limit.components.seconds) s"
    case .notRegular: "it is no regular file"
    case .tooBig: "it is larger than \(limit >> 10) KiB"
    case .volumeUnavailable(let text), .keyUnavailable(let text), .failed(let text): text
    case .exists, .noSpace, .symbolicLink, .notOwn: "\(error)"
    }
  }
}

/// The client's secret.
package enum ClientSecret: Sendable {
  case text(Secret)
  /// A file with the secret and perhaps a newline.
  case file(ClientFile)

  package init(_ secret: Secret) {
    self = .text(secret)
  }

  package init(file path: String, files: any FileSystem) {
    self = .file(ClientFile("client secret", at: path, files: files))
  }

  func read() async throws(RefreshFailure) -> Secret {
    let secret: Secret
    switch self {
    case .text(let text): secret = text
    case .file(let file):
      let text = String(decoding: try await file.read(), as: UTF8.self)
      secret = Secret(String(text.reversed().drop(while: \.isNewline).reversed()))
    }
    guard !secret.isEmpty else { throw .misconfigured(message: "The client secret is empty.") }
    return secret
  }
}

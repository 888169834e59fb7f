import HearthCore

extension AccessFailure {
  /// Converts a file error. The failure means that the credential is inaccessible, never that it is gone.
  init(_ error: FileError, at path: String) {
    switch error {
    case .absent: self.init(.volumeUnavailable, detail: "\(path) does not exist")
    case .exists: self.init(.storageError, detail: "\(path) already exists")
    case .permissionDenied: self.init(.permissionDenied, detail: "\(path): permission denied")
    case .volumeUnavailable(let text): self.init(.volumeUnavailable, detail: "\(path): \(text)")
    case .keyUnavailable(let text): self.init(.keyUnavailable, detail: "\(path): \(text)")
    case .noSpace: self.init(.storageError, detail: "\(path): no space left")
    case .symbolicLink:
      self.init(
        .storageError, detail: "\(path) is a symbolic link, which Hearth follows only if credential_file names it")
    case .notRegular: self.init(.storageError, detail: "\(path) is not a regular file")
    case .notOwn: self.init(.permissionDenied, detail: "\(path) belongs to another user")
    case .tooBig: self.init(.storageError, detail: "\(path) is too large")
    case .unanswered(let limit):
      self.init(.volumeUnavailable, detail: "\(path) did not respond within \(limit.components.seconds) s")
    case .failed(let text): self.init(.storageError, detail: "\(path): \(text)")
    }
  }
}

/// Runs a step on the file at `path`, and converts a file error into an access failure.
func accessing<Value>(
  _ path: String, _ step: @autoclosure () async throws(FileError) -> Value
) async throws(AccessFailure) -> Value {
  do { return try await step() } catch { throw AccessFailure(error, at: path) }
}

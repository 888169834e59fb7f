import Glibc

/// The destination for the body of a response. A file is either replaced completely or left unchanged. Pipes, devices
/// and standard output (`-`) are written directly.
struct AnswerFile {
  private let path: String
  /// A regular file and its permissions, or `nil` for anything else. If the file exists, symbolic links in its path are
  /// resolved.
  private let file: (path: String, mode: mode_t)?

  /// Throws if a file cannot be written at the path, before a request is sent whose response would be lost. Does not
  /// check pipes, devices and standard output.
  init(_ path: String) throws {
    self.path = path
    file = path == "-" ? nil : try Self.file(path)
    // A new file in the folder replaces the old one.
    guard let file, access(Self.folder(of: file.path), W_OK | X_OK) != 0 else { return }
    throw Self.failure(file.path)
  }

  private static func file(_ path: String) throws -> (path: String, mode: mode_t)? {
    var status = stat()
    if stat(path, &status) == 0 {
      switch status.st_mode & S_IFMT {
      case S_IFDIR: throw CommandFailure(.failed, "\(path) is a folder, not a file. Specify a file name.")
      case S_IFREG:
        guard let end = realpath(path, nil) else { throw failure(path) }
        defer { free(end) }
        return (String(cString: end), status.st_mode & 0o777)
      default: return nil
      }
    }
    guard errno == ENOENT else { throw failure(path) }
    // Do not replace a broken link, because its purpose is unknown.
    guard lstat(path, &status) != 0 else { throw failure(path) }
    let mask = umask(0)
    umask(mask)
    return (path, 0o666 & ~mask)
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
  }

  /// Runs `body`, which writes the response piece by piece. If `body` throws, an existing file is left unchanged.
  func write(_ body: ((_ piece: [UInt8]) throws -> Void) throws -> Void) throws {
    if let file { return try replace(file.path, file.mode, with: body) }
    let isOutput = path == "-"
    let descriptor = isOutput ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { if !isOutput { close(descriptor) } }
    try body { piece in
      guard WholeFile.write(piece, to: descriptor) else { throw Self.failure(isOutput ? "Standard output" : path) }
    }
  }

  private func replace(
    _ file: String, _ mode: mode_t, with body: ((_ piece: [UInt8]) throws -> Void) throws -> Void
  ) throws {
    var name = Array("\(Self.folder(of: file))/.hearthctl-XXXXXX".utf8CString)
    let descriptor = UnfinishedFile.make(&name)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    do {
      try body { piece in guard WholeFile.write(piece, to: descriptor) else { throw Self.failure(path) } }
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0, rename(name, file) == 0 else {
        throw Self.failure(path)
      }
      UnfinishedFile.end()
    } catch {
      unlink(name)
      UnfinishedFile.end()
      throw error
    }
  }
}

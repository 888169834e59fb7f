import Glibc
import HearthCore

struct StatePaths: Hashable, Sendable {
  let folder: String

  var credentials: String { folder + "/credentials" }
  var accounts: String { folder + "/accounts.json" }
  var metrics: String { folder + "/metrics.json" }
  var outbox: String { folder + "/outbox.sqlite" }
  var sinks: String { folder + "/sinks.json" }
  var responses: String { folder + "/responses.sqlite" }
  var revocations: String { folder + "/revocations" }

  /// Returns the default path for an account without `credential_file`.
  func credentialFile(of account: AccountName) -> String { "\(credentials)/\(account).json" }

  /// Creates the state folder with mode 0700 if it is missing. Removes other users' access to the state folder and the
  /// credentials folder. Throws if others can write to a folder or if a folder belongs to another user.
  ///
  /// Creates the credentials folder only on the first start. If the folder is missing later, its volume is probably not
  /// mounted, and the sessions report that.
  func prepare() throws {
    try Self.makeFolder(folder)
    guard let status = Self.status(of: folder) else { throw Self.unusable(folder) }
    try Self.keepPrivate(folder, status)
    if Self.status(of: accounts) == nil, Self.status(of: credentials) == nil { try Self.makeFolder(credentials) }
    if let status = Self.status(of: credentials) { try Self.keepPrivate(credentials, status) }
  }

  private static func makeFolder(_ path: String) throws {
    let ends = path.indices.dropFirst().filter { path[$0] == "/" } + [path.endIndex]
    for end in ends {
      let folder = path[..<end]
      guard mkdir(String(folder), 0o700) == 0 else {
        guard errno == EEXIST else { throw unusable(path) }
        continue
      }
      // Sync the parent too, because files in a new folder survive a power failure only if the folder's own entry does.
      let parent = folder.lastIndex(of: "/").map { String(folder[...$0]) } ?? "."
      guard sync(parent) else { throw unusable(path) }
    }
  }

  private static func sync(_ folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == EACCES }
    defer { close(descriptor) }
    // Ignore the errors of file systems that do not support fsync for folders.
    return fsync(descriptor) == 0 || [EINVAL, ENOSYS, ENOTSUP].contains(errno)
  }

  private static func unusable(_ path: String) -> ConfigurationError {
    ConfigurationError("\(path): cannot use the folder: \(systemError())")
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// Removes other users' permissions. Throws if another user owns the folder or can write to it.
  private static func keepPrivate(_ path: String, _ status: stat) throws {
    guard status.st_mode & S_IFMT == S_IFDIR else { throw ConfigurationError("\(path): not a folder") }
    guard status.st_uid == geteuid() else {
      throw ConfigurationError("\(path): the folder belongs to user \(status.st_uid), but must be your own")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw ConfigurationError("\(path): other users can write to the folder; run \"chmod go-w\" on it")
    }
    guard status.st_mode & 0o077 == 0 || chmod(path, status.st_mode & 0o700) == 0 else { throw unusable(path) }
  }
}

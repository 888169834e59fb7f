import Glibc
import HearthCore

/// What lies in the state folder.
struct StatePaths: Hashable, Sendable {
  let folder: String

  var credentials: String { folder + "/credentials" }
  var accounts: String { folder + "/accounts.json" }
  var outbox: String { folder + "/outbox.sqlite" }

  /// The default place, where the account's `credential_file` names no other.
  func credentialFile(of account: AccountName) -> String { "\(credentials)/\(account).json" }

  /// Makes the folders that are missing, 0700, and narrows to that what others may read. One that others may write,
  /// or that is not the user's own, is refused.
  func prepare() throws(ConfigurationError) {
    try Self.makeFolder(folder)
    try Self.makeFolder(credentials)
  }

  private static func makeFolder(_ path: String) throws(ConfigurationError) {
    func failure() -> ConfigurationError { ConfigurationError("\(path): the folder cannot be used: \(systemError())") }
    for end in path.indices.dropFirst() where path[end] == "/" {
      guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST else {
        throw failure()
      }
    }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure() }
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure() }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw ConfigurationError("\(path): is no folder") }
    guard status.st_uid == geteuid() else {
      throw ConfigurationError("\(path): the folder belongs to user \(status.st_uid); it must be your own")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw ConfigurationError("\(path): the folder is refused, because others may write in it")
    }
    guard status.st_mode & 0o777 == 0o700 || chmod(path, 0o700) == 0 else { throw failure() }
  }
}

/// The steps of replacing a file durably. Each one touches the disk once and returns within a deadline: a hanging mount
/// results in `FileError.unanswered`.
package protocol FileSystem: Sendable {
  /// Reads a whole regular file of at most `limit` bytes. A link at `path` is refused unless `followsLink`.
  func read(_ path: String, limit: Int, followsLink: Bool) async throws(FileError) -> FileContents

  /// Returns the status of the file at `path`, without following a link.
  func status(_ path: String) async throws(FileError) -> FileStatus

  /// Returns the target of a link, as stored in it.
  func target(ofLink path: String) async throws(FileError) -> String

  /// Returns the names in a folder.
  func names(in folder: String) async throws(FileError) -> [String]

  /// Creates an empty file with mode 0600. Throws `.exists` if the name is in use.
  func createFile(_ path: String) async throws(FileError)

  /// Allocates this many bytes on the disk for a file.
  func allocate(_ path: String, bytes: Int) async throws(FileError)

  /// Overwrites one of Hearth's own files and truncates it. Not durable before `syncFile`.
  func write(_ bytes: [UInt8], to path: String) async throws(FileError)

  /// Returns when the contents of the file are on disk (fsync).
  func syncFile(_ path: String) async throws(FileError)

  /// Renames a file atomically, replacing any file of the new name. Not durable before `syncFolder`.
  func rename(_ path: String, to newPath: String) async throws(FileError)

  /// Returns when the names in the folder are on disk (fsync).
  func syncFolder(_ path: String) async throws(FileError)

  /// Removes a file. Not durable before `syncFolder`.
  func removeFile(_ path: String) async throws(FileError)

  /// Creates one folder with mode 0700. Throws `.exists` if the name is in use.
  func createFolder(_ path: String) async throws(FileError)

  /// Sets the permissions of a file, without following a link.
  func setMode(_ path: String, to mode: UInt32) async throws(FileError)
}

package struct FileContents: Hashable, Sendable {
  package let bytes: [UInt8]
  package let status: FileStatus

  package init(bytes: [UInt8], status: FileStatus) { (self.bytes, self.status) = (bytes, status) }
}

package struct FileStatus: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file, folder, link, other
  }

  package var kind: Kind
  /// Whether the file belongs to the user of this process.
  package var isOwn: Bool
  /// The permission bits.
  package var mode: UInt32
  /// In bytes.
  package var size: Int
  package var modified: Timestamp
  /// Stays the same as long as it is the same file, whatever is written into it.
  package var inode: UInt64

  package init(kind: Kind, isOwn: Bool, mode: UInt32, size: Int, modified: Timestamp, inode: UInt64) {
    (self.kind, self.isOwn, self.mode) = (kind, isOwn, mode)
    (self.size, self.modified, self.inode) = (size, modified, inode)
  }

  /// Whether others can read or write the file, so that it must not hold a secret. If root owns the file, its group may
  /// read it: that is how an administrator hands over a secret, and how systemd's credentials look with their access
  /// control lists (acl(5)).
  package var exposesSecret: Bool { mode & (isOwn ? 0o077 : 0o037) != 0 }
}

/// Why a step on a file failed, by what can be done about it.
package enum FileError: Error, Hashable, Sendable {
  /// The name does not exist. The reason is unknown: a locked folder and an unmounted volume look the same.
  case absent
  case exists
  case permissionDenied
  /// The volume does not work (ENOTCONN, ESTALE, ENODEV and the like). The text is the system's.
  case volumeUnavailable(String)
  /// The folder is encrypted and its key is missing (ENOKEY and the like). The text is the system's.
  case keyUnavailable(String)
  case noSpace
  case symbolicLink
  case notRegular
  case notOwn
  case tooBig
  /// The step has not ended within this time, and may still be carried out.
  case unanswered(Duration)
  /// An I/O error or any other error. The text is the system's.
  case failed(String)
}

/// Reports that files may have changed: the files themselves, or a folder on the way to them.
package protocol FileWatch: Sendable {
  /// Yields one hint at the beginning and one after each change or several changes. Ends with its task.
  func hints(for paths: [String]) -> AsyncStream<Void>
}

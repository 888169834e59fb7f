/// The operations for replacing a file durably. An operation that does not finish in time, for example because a mount
/// hangs, throws `FileError.unanswered`.
package protocol FileSystem: Sendable {
  /// Reads a regular file of at most `limit` bytes. Throws if `path` is a symbolic link, unless `followsLink` is true.
  func read(_ path: String, limit: Int, followsLink: Bool) async throws(FileError) -> FileContents

  /// Returns the status of the file at `path`. Does not follow symbolic links.
  func status(_ path: String) async throws(FileError) -> FileStatus

  /// Returns the target of a symbolic link, as stored in the link.
  func target(ofLink path: String) async throws(FileError) -> String

  func names(in folder: String) async throws(FileError) -> [String]

  /// Creates an empty file with mode 0600. Throws `.exists` if the name is taken.
  func createFile(_ path: String) async throws(FileError)

  /// Allocates this many bytes of disk space for a file.
  func allocate(_ path: String, bytes: Int) async throws(FileError)

  /// Replaces the content of one of Hearth's own files. The content is durable only after `syncFile`.
  func write(_ bytes: [UInt8], to path: String) async throws(FileError)

  /// Flushes the content of a file to disk (fsync).
  func syncFile(_ path: String) async throws(FileError)

  /// Renames a file atomically, replacing any file with the new name. The change is durable only after `syncFolder`.
  func rename(_ path: String, to newPath: String) async throws(FileError)

  /// Flushes the entries of a folder to disk (fsync).
  func syncFolder(_ path: String) async throws(FileError)

  /// Removes a file. The change is durable only after `syncFolder`.
  func removeFile(_ path: String) async throws(FileError)

  /// Creates a folder with mode 0700. Throws `.exists` if the name is taken.
  func createFolder(_ path: String) async throws(FileError)

  /// Sets the permissions of a file. Does not follow symbolic links.
  func setMode(_ path: String, to mode: UInt32) async throws(FileError)
}

package typealias FileContents = (bytes: [UInt8], status: FileStatus)

package struct FileStatus: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file, folder, link, other
  }

  package var kind: Kind
  /// Whether the user of this process owns the file.
  package var isOwn: Bool
  /// The permission bits.
  package var mode: UInt32
  /// The size in bytes.
  package var size: Int
  package var modified: Timestamp
  /// The inode number, which stays the same when the content changes.
  package var inode: UInt64

  package init(kind: Kind, isOwn: Bool, mode: UInt32, size: Int, modified: Timestamp, inode: UInt64) {
    (self.kind, self.isOwn, self.mode) = (kind, isOwn, mode)
    (self.size, self.modified, self.inode) = (size, modified, inode)
  }

  /// Whether the permissions are too open for a file with a secret. A file that another user (such as root) owns may be
  /// readable by its group, because administrators provide secrets this way. The access control lists of systemd's
  /// credentials also appear as group permissions (acl(5)).
  package var exposesSecret: Bool { mode & (isOwn ? 0o077 : 0o037) != 0 }
}

/// The reason why a file operation failed.
package enum FileError: Error, Hashable, Sendable {
  /// No file has this name. The folder may be locked, or the volume may not be mounted.
  case absent
  case exists
  case permissionDenied
  /// The volume is unavailable (ENOTCONN, ESTALE, ENODEV and similar). The value is the system's message.
  case volumeUnavailable(String)
  /// The key of an encrypted folder is missing (ENOKEY and similar). The value is the system's message.
  case keyUnavailable(String)
  case noSpace
  case symbolicLink
  case notRegular
  case notOwn
  case tooBig
  /// The operation did not finish within this time, but may still take effect.
  case unanswered(Duration)
  /// An I/O error or any other error. The value is the system's message.
  case failed(String)
}

/// Watches files for changes, including changes to folders in their paths.
package protocol FileWatch: Sendable {
  /// Yields once at the start, and then whenever one of the files may have changed. The stream ends when the consuming
  /// task is cancelled.
  func hints(for paths: [String]) -> AsyncStream<Void>
}

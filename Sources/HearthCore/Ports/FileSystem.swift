/// The single steps that a durable replacement of a file consists of. Each one touches the disk once, and returns within
/// a deadline: a mount that hangs is an outcome (`FileError.unanswered`).
package protocol FileSystem: Sendable {
  /// The whole of a regular file. A link as the last part of `path` is refused unless `followsLink`.
  /// `limit`: the longest file that is read, in bytes.
  func read(_ path: String, limit: Int, followsLink: Bool) async throws(FileError) -> FileContents

  /// The status of the file at `path`, without following a link.
  func status(_ path: String) async throws(FileError) -> FileStatus

  /// Where a link points, as it is written in it.
  func target(ofLink path: String) async throws(FileError) -> String

  /// The names in a folder.
  func names(in folder: String) async throws(FileError) -> [String]

  /// Creates an empty file, mode 0600; throws `.exists` where the name is in use.
  func createFile(_ path: String) async throws(FileError)

  /// Allocates this many bytes on the disk for a file.
  func allocate(_ path: String, bytes: Int) async throws(FileError)

  /// Writes a file of one's own from its beginning and cuts it there. Not durable before `syncFile`.
  func write(_ bytes: [UInt8], to path: String) async throws(FileError)

  /// Returns when the contents of the file are on the disk (fsync).
  func syncFile(_ path: String) async throws(FileError)

  /// Renames a file atomically, and replaces one of the new name. Not durable before `syncFolder`.
  func rename(_ path: String, to newPath: String) async throws(FileError)

  /// Returns when the names in the folder are on the disk (fsync).
  func syncFolder(_ path: String) async throws(FileError)

  /// Removes a file. Not durable before `syncFolder`.
  func removeFile(_ path: String) async throws(FileError)

  /// Creates one folder, mode 0700; throws `.exists` where the name is in use.
  func createFolder(_ path: String) async throws(FileError)

  /// Sets the permissions of a file, without following a link.
  func setMode(_ path: String, to mode: UInt32) async throws(FileError)
}

package struct FileContents: Hashable, Sendable {
  package let bytes: [UInt8]
  package let status: FileStatus

  package init(bytes: [UInt8], status: FileStatus) {
    self.bytes = bytes
    self.status = status
  }
}

package struct FileStatus: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case file, folder, link, other
  }

  package var kind: Kind
  /// Whether it belongs to the user whose process this is.
  package var isOwn: Bool
  /// The permission bits.
  package var mode: UInt32
  /// In bytes.
  package var size: Int
  package var modified: Timestamp
  /// The same as long as it is the same file, whatever is written into it.
  package var inode: UInt64

  package init(kind: Kind, isOwn: Bool, mode: UInt32, size: Int, modified: Timestamp, inode: UInt64) {
    self.kind = kind
    self.isOwn = isOwn
    self.mode = mode
    self.size = size
    self.modified = modified
    self.inode = inode
  }

  /// Others may read or write it, so that no secret may be in it. The group of a file of root's may read it: so an
  /// administrator hands a secret over, and so the access control lists of systemd's credentials look (acl(5)).
  package var exposesSecret: Bool { mode & (isOwn ? 0o077 : 0o037) != 0 }
}

/// Why a step on a file failed, by what can be done about it.
package enum FileError: Error, Hashable, Sendable {
  /// The name is not there. It says nothing about why: a locked folder and an unmounted volume look like this too.
  case absent
  case exists
  case permissionDenied
  /// The volume does not work (ENOTCONN, ESTALE, ENODEV and the like); the text is the system's.
  case volumeUnavailable(String)
  /// The folder is encrypted and its key is missing (ENOKEY and the like); the text is the system's.
  case keyUnavailable(String)
  case noSpace
  case symbolicLink
  case notRegular
  case notOwn
  case tooBig
  /// The step has not ended in this time, and may still be carried out.
  case unanswered(Duration)
  /// An I/O error or anything else; the text is the system's.
  case failed(String)
}

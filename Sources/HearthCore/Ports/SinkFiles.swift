/// The files that sinks write. Readers see either the old or the new content, unless the file is written in place. Each
/// operation has a time limit. For a netrc sink, an operation concerns only the account's entries in the file.
package protocol SinkFiles: Sendable {
  /// Resolves `path`. Two paths to one file have the same place, even if they differ by links or mounts.
  func place(of path: String) async throws(SinkFailure) -> SinkPlace

  /// Throws `.occupied` if anything exists at the sink's path. If the sink is written in place, an empty file of this
  /// user is allowed. A netrc sink's file may always exist.
  func requireFree(for sink: SinkSettings) async throws(SinkFailure)

  /// Creates an empty file for `put`, or finds the existing file if the sink is written in place. Throws if a link or
  /// another program's file is at the sink's path. Returns the mark that identifies the new or existing file.
  func begin(at sink: SinkSettings) async throws(SinkFailure) -> SinkMark

  /// Fills the file from `begin`. Unless the sink is written in place, moves the file to the sink's path, replacing the
  /// file of an earlier `put`. The file has the right mode and owner before it has any content.
  func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure)

  /// Removes the regular file at `path` and the remains of an interrupted `put`, if there are any. Leaves other kinds
  /// of files and other programs' files unchanged. With `keepingFile`, only truncates the file.
  func remove(_ path: String, keepingFile: Bool) async throws(SinkFailure)
}

/// A mark that distinguishes a sink's file from all other files that were ever at the same path, even across restarts.
package typealias SinkMark = String

/// A name in a folder, independent of the path that leads to the folder. `device` and `folder` are the device and inode
/// numbers of the folder.
package typealias SinkPlace = (device: UInt64, folder: UInt64, name: String)

/// Records the targets that sinks may have written, with the marks of their files, so that Hearth finds its own files
/// after a crash and leaves other programs' files unchanged. If a target has no marks, any file at its path may be
/// Hearth's own.
package protocol SinkRecord: Sendable {
  /// Returns the saved record, or an empty record if nothing was saved.
  func recall() async throws -> [SinkTarget: [SinkMark]]

  /// Replaces the saved record durably. If this method throws, either the old or the new record is saved.
  func keep(_ claims: [SinkTarget: [SinkMark]]) async throws
}

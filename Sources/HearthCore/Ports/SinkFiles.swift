/// The files of sinks. A reader sees the whole old or new content, except in a file that is written in place. Each step
/// returns within a deadline.
package protocol SinkFiles: Sendable {
  /// Resolves `path`: two paths to one file, through a linked folder or one that is mounted twice, have the same place.
  func place(of path: String) async throws(SinkFailure) -> SinkPlace

  /// Throws `.occupied` if anything exists at the sink's path. For a sink that is written in place, an empty file of
  /// this user may exist.
  func requireFree(for sink: SinkSettings) async throws(SinkFailure)

  /// Creates an empty file that `put` fills and moves into place, or finds the file to write in place. Returns the mark
  /// that identifies the file.
  func begin(at sink: SinkSettings) async throws(SinkFailure) -> SinkMark

  /// Fills the file that was begun and replaces the regular file at the sink's path, if there is one. The file has the
  /// sink's mode and owner from its first byte. A link is neither followed nor replaced, nor is a file that `put`
  /// has not placed there.
  func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure)

  /// Removes the regular file at `path`, and the remains of an interrupted `put`. Succeeds if there is none. Leaves
  /// anything that is not a regular file or that another program has placed there. With `keepingFile`, only empties
  /// the file.
  func remove(_ path: String, keepingFile: Bool) async throws(SinkFailure)
}

/// Distinguishes a file that was put at a sink's path from every other that was ever there, across restarts.
package typealias SinkMark = String

/// A name in a folder, however the folder is reached.
package struct SinkPlace: Hashable, Sendable {
  /// The system's numbers of the folder's file system and of the folder.
  package let device: UInt64
  package let folder: UInt64
  package let name: String

  package init(device: UInt64, folder: UInt64, name: String) {
    (self.device, self.folder, self.name) = (device, folder, name)
  }
}

/// Keeps the targets that sinks have written or may have written, with the marks of the files. So files that a crash
/// left behind are found again, and other programs' files are left alone. A file without marks has unknown content.
package protocol SinkRecord: Sendable {
  /// Returns what was last kept, or nothing if there is none.
  func recall() async throws(AccessFailure) -> [SinkTarget: [SinkMark]]

  /// Replaces what was kept before. It is durable when this returns, and unchanged if this throws.
  func keep(_ claims: [SinkTarget: [SinkMark]]) async throws(AccessFailure)
}

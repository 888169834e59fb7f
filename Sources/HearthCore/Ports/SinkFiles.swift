/// The files of sinks. Whoever reads one sees a whole content, the one before or the new one. Each step returns within a
/// deadline.
package protocol SinkFiles: Sendable {
  /// Where `path` leads: two paths that name one file, through a folder that is a link or mounted twice, lead to the same.
  func place(of path: String) async throws(SinkFailure) -> SinkPlace

  /// Throws `.occupied` where anything lies at `path`.
  func requireFree(_ path: String) async throws(SinkFailure)

  /// Takes the place of the regular file at the sink's path, if there is one, with the sink's mode and owner from its
  /// first byte on. A link is neither followed nor replaced, and a file that `put` has not put there is not replaced.
  func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure)

  /// Removes the regular file at `path`, and what a `put` that was cut off has left. Where there is none, it is done; what
  /// is no regular file stays, and what somebody else has put there.
  func remove(_ path: String) async throws(SinkFailure)
}

/// A name in a folder, however the folder is reached.
package struct SinkPlace: Hashable, Sendable {
  /// The folder's, by the system's numbers of it and of its file system.
  package let device: UInt64
  package let folder: UInt64
  package let name: String

  package init(device: UInt64, folder: UInt64, name: String) {
    self.device = device
    self.folder = folder
    self.name = name
  }
}

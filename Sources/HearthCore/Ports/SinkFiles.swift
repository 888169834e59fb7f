/// The files of sinks. Whoever reads one sees a whole content, the one before or the new one. Each step returns within a
/// deadline.
package protocol SinkFiles: Sendable {
  /// Throws `.occupied` where anything lies at `path`.
  func requireFree(_ path: String) async throws(SinkFailure)

  /// Takes the place of the regular file at the sink's path, if there is one, with the sink's mode and owner from its
  /// first byte on. A link is neither followed nor replaced.
  func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure)

  /// Removes the regular file at `path`, and what a `put` that was cut off has left. Where there is none, it is done; what
  /// is no regular file stays.
  func remove(_ path: String) async throws(SinkFailure)
}

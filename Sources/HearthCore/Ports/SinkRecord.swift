/// Where the paths are written down at which a file of a sink lies, or may lie: what a crash has left is found again, and
/// what is not Hearth's is left alone.
package protocol SinkRecord: Sendable {
  /// Empty where there is none.
  func recall() async throws(AccessFailure) -> Set<String>

  /// Durable when it returns; unchanged where it throws.
  func keep(_ paths: Set<String>) async throws(AccessFailure)
}

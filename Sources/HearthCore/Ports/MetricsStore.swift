/// Keeps the metrics that continue across restarts.
package protocol MetricsStore: Sendable {
  /// Returns what was last kept, if anything. Throws if it cannot be read now or by this version, so that the caller
  /// does not replace it.
  func recall() async throws(AccessFailure) -> [MetricFamily]

  /// Replaces what was kept before. It is durable when this returns, and unchanged if this throws.
  func keep(_ families: [MetricFamily]) async throws(AccessFailure)
}

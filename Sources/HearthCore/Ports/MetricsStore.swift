/// Stores metrics across restarts.
package protocol MetricsStore: Sendable {
  /// Returns the saved metrics, or an empty array if there are none. Throws if saved metrics cannot be read now or by
  /// this version, so that the caller does not replace them.
  func recall() async throws(AccessFailure) -> [MetricFamily]

  /// Replaces the saved metrics. The new ones are durable when this returns. If this throws, the old ones are
  /// unchanged.
  func keep(_ families: [MetricFamily]) async throws(AccessFailure)
}

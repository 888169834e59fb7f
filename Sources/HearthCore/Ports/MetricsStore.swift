/// Stores metrics across restarts.
package protocol MetricsStore: Sendable {
  /// Returns the saved metrics, or an empty array if no metrics are saved. Sets damaged metrics aside, as if none were
  /// saved. Throws if saved metrics exist but cannot be read, so that the caller does not replace them.
  func recall() async throws -> [MetricFamily]

  /// Replaces the saved metrics durably. If this method throws, either the old or the new metrics are saved.
  func keep(_ families: [MetricFamily]) async throws
}

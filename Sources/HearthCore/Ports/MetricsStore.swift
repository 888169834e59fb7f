/// Where the metrics are kept that go on over restarts.
package protocol MetricsStore: Sendable {
  /// What was kept last; nothing where there is nothing. Throws where it cannot be read now, or not by this version: it is
  /// not to be replaced then.
  func recall() async throws(AccessFailure) -> [MetricFamily]

  /// Takes the place of what was kept before. Durable when it returns; unchanged where it throws.
  func keep(_ families: [MetricFamily]) async throws(AccessFailure)
}

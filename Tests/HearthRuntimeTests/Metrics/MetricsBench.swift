import HearthControl
import HearthCore
import Logging
import Synchronization
import TestSupport

@testable import HearthRuntime

/// Metrics of a daemon whose times the test sets, read as a scraper reads them.
final class MetricsBench: Sendable {
  let clock = ManualClock()
  let store: MemoryMetricsStore
  let hub: EventHub
  let metrics: Metrics
  private let time: Stopwatch

  final class Stopwatch: Sendable {
    private let elapsed = Mutex(Duration.zero)

    var now: Duration { elapsed.withLock(\.self) }
    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }
  }

  init(_ store: MemoryMetricsStore = MemoryMetricsStore()) {
    let time = Stopwatch()
    self.time = time
    self.store = store
    hub = EventHub(clock: clock)
    metrics = Metrics(store: store, clock: clock, logger: .silent, elapsed: { time.now })
  }

  func advance(by duration: Duration) { time.advance(by: duration) }

  var info: DaemonInfo { DaemonInfo(version: "1.2.3", pid: 1, startedAt: Sample.start, paths: []) }

  var families: [MetricFamily] { metrics.families(hub.snapshot, info, at: clock.now()) }

  /// The lines of the OpenMetrics text that begin so.
  func lines(_ beginning: String) -> [String] {
    MetricsText.openMetrics(families).split(separator: "\n").map(String.init).filter { $0.hasPrefix(beginning) }
  }

  /// The value of a sample, as it is written; nil where there is none.
  func value(_ sample: String) -> String? { lines(sample + " ").first.map { String($0.dropFirst(sample.count + 1)) } }

  /// A session whose events are counted.
  func session(_ store: MemoryCredentialStore, _ endpoint: ScriptedTokenEndpoint) -> SessionService {
    SessionService(
      account: .sample, settings: SessionSettings(), store: store, endpoint: endpoint, clock: clock, logger: .silent,
      seed: 1,
      publish: { [hub, metrics] events, status in
        hub.update(status, after: events)
        metrics.update(status, after: events)
      })
  }
}

extension Logger {
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

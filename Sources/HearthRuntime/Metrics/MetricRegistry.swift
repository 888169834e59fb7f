import CoreMetrics
import HearthCore
import Synchronization

/// Holds the counts of Hearth's own metrics, and makes the handlers of swift-metrics' instruments.
///
/// Instruments are given it by hand and it is never bootstrapped: what libraries measure goes nowhere. An instrument of a
/// name or kind that is none of Hearth's counts nothing.
final class MetricRegistry: MetricsFactory, Sendable {
  private let cells = Mutex<[MetricName: [[MetricLabel]: any MetricCell]]>([:])

  /// Sorted by their labels, so that two reports of the same look the same.
  func samples(of name: MetricName) -> [MetricSample] {
    let cells = cells.withLock { $0[name] ?? [:] }
    return cells.map { MetricSample($0.key, $0.value.value) }.sorted {
      $0.labels.map(\.value).lexicographicallyPrecedes($1.labels.map(\.value))
    }
  }

  /// Adds what was counted before a restart. Histograms of other bounds than today's are left out.
  func add(_ samples: [MetricSample], to name: MetricName) {
    for sample in samples { cell(name, sample.labels)?.add(sample.value) }
  }

  private func cell(_ name: MetricName, _ labels: [MetricLabel]) -> (any MetricCell)? {
    cells.withLock { cells in
      if let cell = cells[name]?[labels] { return cell }
      let cell: any MetricCell =
        switch name.kind {
        case .counter: CounterCell()
        case .gauge: GaugeCell()
        case .histogram: HistogramCell(name.bounds)
        }
      cells[name, default: [:]][labels] = cell
      return cell
    }
  }

  private func handler<Handler>(_ label: String, _ dimensions: [(String, String)], _: Handler.Type) -> Handler? {
    MetricName(rawValue: label).flatMap { cell($0, dimensions.map { MetricLabel($0, $1) }) } as? Handler
  }

  // MARK: - MetricsFactory

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    handler(label, dimensions, CounterCell.self) ?? NOOPMetricsHandler.instance
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    handler(label, dimensions, GaugeCell.self) ?? NOOPMetricsHandler.instance
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    handler(label, dimensions, HistogramCell.self) ?? NOOPMetricsHandler.instance
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    NOOPMetricsHandler.instance
  }

  // A metric stays until the daemon ends.
  func destroyCounter(_: any CounterHandler) {}
  func destroyMeter(_: any MeterHandler) {}
  func destroyTimer(_: any TimerHandler) {}
  func destroyRecorder(_: any RecorderHandler) {}
}

/// One sample's count.
private protocol MetricCell: AnyObject, Sendable {
  var value: MetricSample.Value { get }
  func add(_ value: MetricSample.Value)
}

private final class CounterCell: MetricCell, CounterHandler {
  private let count = Atomic<Int64>(0)

  var value: MetricSample.Value { .number(Double(count.load(ordering: .relaxed))) }

  func add(_ value: MetricSample.Value) {
    if case .number(let number) = value, let count = Int64(exactly: number), count > 0 { increment(by: count) }
  }

  func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { count.store(0, ordering: .relaxed) }
}

private final class GaugeCell: MetricCell, MeterHandler {
  private let level = Mutex(0.0)

  var value: MetricSample.Value { .number(level.withLock(\.self)) }

  func add(_ value: MetricSample.Value) {
    if case .number(let number) = value { increment(by: number) }
  }

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { level.withLock { $0 = value } }
  func increment(by amount: Double) { level.withLock { $0 += amount } }
  func decrement(by amount: Double) { level.withLock { $0 -= amount } }
}

private final class HistogramCell: MetricCell, TimerHandler {
  private struct Counts {
    /// The count of each bucket alone, and last of what lies above them all.
    var counts: [Int]
    /// In nanoseconds, so that many small times add up exactly.
    var sum: Int64 = 0

    mutating func add(_ nanoseconds: Int64) {
      let (sum, overflow) = sum.addingReportingOverflow(nanoseconds)
      self.sum = overflow ? .max : sum
    }
  }

  /// In nanoseconds.
  private let bounds: [Int64]
  /// As they are reported, in seconds.
  private let shownBounds: [Double]
  private let state: Mutex<Counts>

  init(_ bounds: [Duration]) {
    self.bounds = bounds.map(\.wholeNanoseconds)
    shownBounds = self.bounds.map { Double($0) / 1e9 }
    state = Mutex(Counts(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  var value: MetricSample.Value {
    let state = state.withLock(\.self)
    var count = 0
    let buckets = zip(shownBounds, state.counts).map { bound, alone in
      count += alone
      return Histogram.Bucket(bound: bound, count: count)
    }
    count += state.counts.last ?? 0
    return .histogram(Histogram(buckets: buckets, count: count, sum: Double(state.sum) / 1e9))
  }

  func add(_ value: MetricSample.Value) {
    guard case .histogram(let before) = value, before.buckets.map(\.bound) == shownBounds else { return }
    var below = 0
    state.withLock { state in
      for (place, count) in (before.buckets.map(\.count) + [before.count]).enumerated() {
        state.counts[place] += max(count - below, 0)
        below = max(count, below)
      }
      state.add(Int64(exactly: (before.sum * 1e9).rounded()) ?? 0)
    }
  }

  func recordNanoseconds(_ duration: Int64) {
    let duration = max(duration, 0)
    let place = bounds.firstIndex { duration <= $0 } ?? bounds.count
    state.withLock { state in
      state.counts[place] += 1
      state.add(duration)
    }
  }
}

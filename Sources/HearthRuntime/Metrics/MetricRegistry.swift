import HearthCore
import Synchronization

final class MetricRegistry: Sendable {
  private let cells = Mutex<[MetricName: [[MetricLabel]: MetricCell]]>([:])

  /// Returns a family's samples in a stable order, sorted by the values of their labels.
  func samples(of name: MetricName) -> [MetricSample] {
    let cells = cells.withLock { $0[name] ?? [:] }
    return cells.map { MetricSample($0.key, $0.value.value) }.sorted {
      $0.labels.map(\.value).lexicographicallyPrecedes($1.labels.map(\.value))
    }
  }

  /// Adds counts that were saved before a restart. Skips histograms with different bounds.
  func add(_ samples: [MetricSample], to name: MetricName) {
    for sample in samples { cell(name, sample.labels).add(sample.value) }
  }

  /// Returns the cell with these labels, creating it with a count of zero if necessary.
  func cell(_ name: MetricName, _ labels: KeyValuePairs<String, String> = [:]) -> MetricCell {
    cell(name, labels.map { MetricLabel($0, $1) })
  }

  private func cell(_ name: MetricName, _ labels: [MetricLabel]) -> MetricCell {
    cells.withLock { cells in
      if let cell = cells[name]?[labels] { return cell }
      let cell = MetricCell(name)
      cells[name, default: [:]][labels] = cell
      return cell
    }
  }
}

/// The current value of one sample.
final class MetricCell: Sendable {
  private struct State {
    /// The value of a counter or gauge.
    var number = 0
    /// The number of values in each bucket of a histogram. The counts are not cumulative. The last one is for values
    /// above all bounds.
    var counts: [Int]
    /// The sum of a histogram's values in nanoseconds. It is an integer so that small values add up exactly.
    var sum: Int64 = 0

    mutating func add(_ nanoseconds: Int64) {
      let (sum, overflow) = sum.addingReportingOverflow(nanoseconds)
      self.sum = overflow ? .max : sum
    }
  }

  private let kind: MetricFamily.Kind
  private let bounds: [Duration]
  private let state: Mutex<State>

  init(_ name: MetricName) {
    (kind, _, bounds) = name.definition
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  func increment(by amount: Int = 1) { state.withLock { $0.number &+= amount } }

  func record(_ duration: Duration) {
    let duration = max(duration, .zero)
    let place = bounds.firstIndex { duration <= $0 } ?? bounds.count
    state.withLock { state in
      state.counts[place] += 1
      state.add(duration.wholeNanoseconds)
    }
  }

  var value: MetricSample.Value {
    let state = state.withLock(\.self)
    guard kind == .histogram else { return .number(Double(state.number)) }
    var count = 0
    let buckets = zip(shownBounds, state.counts).map { bound, alone in
      count += alone
      return Histogram.Bucket(bound: bound, count: count)
    }
    count += state.counts.last ?? 0
    return .histogram(Histogram(buckets: buckets, count: count, sum: Double(state.sum) / 1e9))
  }

  private var shownBounds: [Double] { bounds.map { Double($0.wholeNanoseconds) / 1e9 } }

  func add(_ value: MetricSample.Value) {
    switch value {
    case .number(let number):
      if let count = Int(exactly: number), count > 0 { increment(by: count) }
    case .histogram(let before):
      guard kind == .histogram, before.buckets.map(\.bound) == shownBounds else { return }
      var below = 0
      state.withLock { state in
        for (place, count) in (before.buckets.map(\.count) + [before.count]).enumerated() {
          state.counts[place] += max(count - below, 0)
          below = max(count, below)
        }
        state.add(Int64(exactly: (before.sum * 1e9).rounded()) ?? 0)
      }
    }
  }
}

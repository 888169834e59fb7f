/// The metrics of one name at one point in time: a family of OpenMetrics 1.0.
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable { case counter, gauge, histogram }

  /// The name ends in the unit. In text formats a counter's samples have `_total` appended.
  package let name: String
  package let type: Kind
  /// The base unit, `seconds` or `bytes`. `nil` for counts.
  package let unit: String?
  /// One sentence for people.
  package let help: String
  package let samples: [MetricSample]

  package init(name: String, type: Kind, unit: String?, help: String, samples: [MetricSample]) {
    (self.name, self.type, self.unit) = (name, type, unit)
    (self.help, self.samples) = (help, samples)
  }
}

/// One member of a family. Its labels distinguish it from the others.
package struct MetricSample: Hashable, Sendable {
  package enum Value: Hashable, Sendable {
    case number(Double)
    case histogram(Histogram)
  }

  package let labels: [MetricLabel]
  package let value: Value

  package init(_ labels: [MetricLabel], _ value: Value) { (self.labels, self.value) = (labels, value) }

  package var number: Double? { if case .number(let number) = value { number } else { nil } }
  package var histogram: Histogram? { if case .histogram(let histogram) = value { histogram } else { nil } }
}

package struct MetricLabel: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The distribution of the observed values.
package struct Histogram: Hashable, Sendable {
  /// The number of values up to a bound, including those in the buckets before it.
  package struct Bucket: Hashable, Sendable {
    /// The upper bound, in the family's unit.
    package let bound: Double
    package let count: Int

    package init(bound: Double, count: Int) { (self.bound, self.count) = (bound, count) }
  }

  /// The buckets in the order of their bounds. Values above the last bound are counted only in `count`.
  package let buckets: [Bucket]
  /// The number of all values.
  package let count: Int
  /// The sum of all values, in the family's unit.
  package let sum: Double

  package init(buckets: [Bucket], count: Int, sum: Double) {
    (self.buckets, self.count, self.sum) = (buckets, count, sum)
  }
}

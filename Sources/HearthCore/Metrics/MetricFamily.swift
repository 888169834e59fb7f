/// A family of metrics with the same name (OpenMetrics 1.0), sampled at one point in time.
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable { case counter, gauge, histogram }

  /// The name, which ends with the unit if there is one. In text formats, counters have the suffix `_total`.
  package let name: String
  package let type: Kind
  /// The base unit (`seconds` or `bytes`), or `nil` if the values have no unit.
  package let unit: String?
  package let help: String
  package let samples: [MetricSample]

  package init(name: String, type: Kind, unit: String?, help: String, samples: [MetricSample]) {
    (self.name, self.type, self.unit) = (name, type, unit)
    (self.help, self.samples) = (help, samples)
  }
}

/// A sample in a family, identified by its labels.
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

package struct Histogram: Hashable, Sendable {
  /// A cumulative count: the number of values up to and including `bound`.
  package struct Bucket: Hashable, Sendable {
    /// The inclusive upper bound, in the family's unit.
    package let bound: Double
    package let count: Int

    package init(bound: Double, count: Int) { (self.bound, self.count) = (bound, count) }
  }

  /// The buckets, in ascending order. Values above the last bound are in no bucket.
  package let buckets: [Bucket]
  package let count: Int
  /// The sum of all observed values, in the family's unit.
  package let sum: Double

  package init(buckets: [Bucket], count: Int, sum: Double) {
    (self.buckets, self.count, self.sum) = (buckets, count, sum)
  }
}

/// Metrics of one name, as they are at one time: a family of OpenMetrics 1.0.
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable { case counter, gauge, histogram }

  /// Ends in the unit. A counter has `_total` behind it in texts.
  package let name: String
  package let type: Kind
  /// A base unit, `seconds` or `bytes`; nil where things are counted.
  package let unit: String?
  /// One sentence for people.
  package let help: String
  package let samples: [MetricSample]

  package init(name: String, type: Kind, unit: String?, help: String, samples: [MetricSample]) {
    self.name = name
    self.type = type
    self.unit = unit
    self.help = help
    self.samples = samples
  }
}

/// One member of a family, told from the others by its labels.
package struct MetricSample: Hashable, Sendable {
  package enum Value: Hashable, Sendable {
    case number(Double)
    case histogram(Histogram)
  }

  package let labels: [MetricLabel]
  package let value: Value

  package init(_ labels: [MetricLabel], _ value: Value) {
    self.labels = labels
    self.value = value
  }

  package var number: Double? { if case .number(let number) = value { number } else { nil } }
  package var histogram: Histogram? { if case .histogram(let histogram) = value { histogram } else { nil } }
}

package struct MetricLabel: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// How many of the values that were observed lie where.
package struct Histogram: Hashable, Sendable {
  /// How many values are at most so large, those of the buckets before it included.
  package struct Bucket: Hashable, Sendable {
    /// In the family's unit.
    package let bound: Double
    package let count: Int

    package init(bound: Double, count: Int) {
      self.bound = bound
      self.count = count
    }
  }

  /// In the order of their bounds. What lies above the last is in `count` alone.
  package let buckets: [Bucket]
  /// The number of all values.
  package let count: Int
  /// The sum of all values, in the family's unit.
  package let sum: Double

  package init(buckets: [Bucket], count: Int, sum: Double) {
    self.buckets = buckets
    self.count = count
    self.sum = sum
  }
}

/// Metrics of one name, as they are at one time: a family of OpenMetrics 1.0.
package struct MetricFamily: TimelessWireValue, Hashable {
  package static let fields = Fields<MetricFamily>(
    .required("name", \.name, .text), .required("type", \.type, .choice), .optional("unit", \.unit, .text),
    .required("help", \.help, .text), .required("samples", \.samples, .array(MetricSample.fields)), make: Self.init)

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
package struct MetricSample: TimelessWireValue, Hashable {
  package static let fields = Fields<MetricSample>(
    .required("labels", \.labels, .labels), .omittable("value", \.number, .number),
    .omittable("count", \.count, .int), .omittable("sum", \.sum, .number),
    .omittable("buckets", \.buckets, .array(HistogramBucket.fields)), make: Self.read)

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

  private static func read(
    _ labels: [MetricLabel], _ number: Double?, _ count: Int?, _ sum: Double?, _ buckets: [HistogramBucket]?
  ) -> MetricSample? {
    if let number { return MetricSample(labels, .number(number)) }
    guard let count, let sum, let buckets else { return nil }
    return MetricSample(labels, .histogram(Histogram(buckets: buckets, count: count, sum: sum)))
  }

  package var number: Double? { if case .number(let number) = value { number } else { nil } }
  package var histogram: Histogram? { if case .histogram(let histogram) = value { histogram } else { nil } }
}

extension MetricSample {
  private var count: Int? { histogram?.count }
  private var sum: Double? { histogram?.sum }
  private var buckets: [HistogramBucket]? { histogram?.buckets }
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
  /// In the order of their bounds. What lies above the last is in `count` alone.
  package let buckets: [HistogramBucket]
  /// Of all values.
  package let count: Int
  /// Of all values, in the family's unit.
  package let sum: Double

  package init(buckets: [HistogramBucket], count: Int, sum: Double) {
    self.buckets = buckets
    self.count = count
    self.sum = sum
  }
}

/// How many values are at most so large, those of the buckets before it included.
package struct HistogramBucket: TimelessWireValue, Hashable {
  package static let fields = Fields<HistogramBucket>(
    .required("le", \.bound, .number), .required("count", \.count, .int), make: Self.init)

  /// In the family's unit.
  package let bound: Double
  package let count: Int

  package init(bound: Double, count: Int) {
    self.bound = bound
    self.count = count
  }
}

extension WireType<[MetricLabel]> {
  fileprivate static var labels: WireType {
    WireType("must be an object of strings", .dictionary(of: .type("string"))) { json in
      let labels = json.object?.members.compactMap { member in member.value.string.map { MetricLabel(member.key, $0) } }
      return labels?.count == json.object?.members.count ? labels : nil
    } write: { labels in
      .object(JSONObject(labels.map { JSONObject.Member(key: $0.name, value: .string($0.value)) }))
    }
  }
}

extension WireType<Double> {
  fileprivate static var number: WireType {
    WireType("must be a number", .type("number"), read: \.double, write: JSON.init(finite:))
  }
}

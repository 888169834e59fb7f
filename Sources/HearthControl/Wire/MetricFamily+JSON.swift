package import HearthCore

extension MetricFamily: TimelessWireValue {
  package static let fields = Fields<MetricFamily>(
    .required("name", \.name, .text), .required("type", \.type, .choice), .optional("unit", \.unit, .text),
    .required("help", \.help, .text), .required("samples", \.samples, .array(MetricSample.fields)),
    make: MetricFamily.init)
}

/// It has a `value`, or a histogram's `count`, `sum` and `buckets`.
extension MetricSample: TimelessWireValue {
  package static let fields = Fields<MetricSample>(
    .required("labels", \.labels, .labels), .omittable("value", \.number, .number),
    .omittable("count", \.count, .int), .omittable("sum", \.sum, .number),
    .omittable("buckets", \.buckets, .array(Histogram.Bucket.fields)), make: MetricSample.read)

  private var count: Int? { histogram?.count }
  private var sum: Double? { histogram?.sum }
  private var buckets: [Histogram.Bucket]? { histogram?.buckets }

  private static func read(
    _ labels: [MetricLabel], _ number: Double?, _ count: Int?, _ sum: Double?, _ buckets: [Histogram.Bucket]?
  ) -> MetricSample? {
    if let number { return MetricSample(labels, .number(number)) }
    guard let count, let sum, let buckets else { return nil }
    return MetricSample(labels, .histogram(Histogram(buckets: buckets, count: count, sum: sum)))
  }
}

extension Histogram.Bucket: TimelessWireValue {
  package static let fields = Fields<Histogram.Bucket>(
    .required("le", \.bound, .number), .required("count", \.count, .int), make: Histogram.Bucket.init)
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

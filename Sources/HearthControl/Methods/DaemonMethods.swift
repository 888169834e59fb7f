package import HearthCore

package struct GetInfo: ParameterlessMethod {
  package static let declaration = MethodDeclaration<DaemonInfo>(
    "daemon.getInfo", "Return the daemon's version, process ID, start time, paths and warnings.", isReadOnly: true)

  package init() {}
}

/// Returns the daemon's metrics. Counters start at zero when the daemon starts (`hearth_start_time_seconds`), as
/// Prometheus expects. Only two metrics survive restarts, because users ask about them after a reboot: the number of
/// sessions that ended without a sign-out, and the time from the end of a session to the next sign-in.
package struct GetMetrics: ControlMethod {
  package static let declaration = MethodDeclaration<MetricsReport>(
    "daemon.getMetrics", "Return the daemon's metrics, as JSON or as OpenMetrics text.", isReadOnly: true)
  package static let parameters = Fields<GetMetrics>(
    .optional("format", \.format, .choice, default: .json), make: Self.init)

  package let format: MetricsReport.Format

  package init(_ format: MetricsReport.Format) { self.format = format }
}

/// All metrics, as JSON or as OpenMetrics text.
package struct MetricsReport: TimelessWireValue {
  package static let fields = Fields<MetricsReport>(
    .omittable("metrics", \.metrics, .array(MetricFamily.fields)), .omittable("text", \.text, .text), make: Self.init)

  package enum Format: String, CaseIterable, Sendable {
    case json
    case openMetrics = "openmetrics"
  }

  /// The metrics, or `nil` if the format is OpenMetrics.
  package let metrics: [MetricFamily]?
  /// OpenMetrics 1.0 text that ends with `# EOF`, or `nil` if the format is JSON.
  package let text: String?
}

extension MetricsReport {
  package init(_ metrics: [MetricFamily], as format: Format) {
    switch format {
    case .json: self.init(metrics: metrics, text: nil)
    case .openMetrics: self.init(metrics: nil, text: MetricsText.openMetrics(metrics))
    }
  }
}

package struct ReloadConfiguration: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "daemon.reload", "Read the configuration again. If it contains an error, the previous configuration stays in use.")

  package init() {}
}

package struct DiscoverMethods: ParameterlessMethod {
  package static let declaration = MethodDeclaration<OpenRPCDocument>(
    "rpc.discover", "Describe every method and notification, as an OpenRPC document.", isReadOnly: true)

  package init() {}
}

/// Information about the running daemon, for clients. Only the configuration's path and the warnings can change while
/// the daemon is running.
package struct DaemonInfo: TimelessWireValue {
  package typealias Path = (name: String, path: String?)

  package static let fields = Fields<DaemonInfo>(
    .required("name", \.name, .text), .required("version", \.version, .text),
    .required("protocol", \.protocolNumber, .int), .required("pid", \.pid, .int),
    .required("startedAt", \.startedAt, .time), .required("capabilities", \.capabilities, .texts),
    .required("paths", \.paths, .paths), .omittable("warnings", \.warnings, .texts), make: Self.init)

  package let name: String
  package let version: String
  package let protocolNumber: Int
  package let pid: Int
  package let startedAt: Timestamp
  package let capabilities: [String]
  /// The paths of the daemon's files and folders, by name (`state`, `socket`, …). A path is `nil` if the file or folder
  /// is not used.
  package let paths: [Path]
  /// Problems in the daemon's environment and how to fix them, as sentences for the user, or `nil` if there are no
  /// problems.
  package let warnings: [String]?

  package init(
    name: String = "hearthd", version: String = HearthVersion.text, protocolNumber: Int = HearthVersion.protocolNumber,
    pid: Int, startedAt: Timestamp, capabilities: [String] = ["sessions", "outbox", "events"], paths: [Path],
    warnings: [String]? = nil
  ) {
    (self.name, self.version, self.protocolNumber, self.pid) = (name, version, protocolNumber, pid)
    (self.startedAt, self.capabilities, self.paths, self.warnings) = (startedAt, capabilities, paths, warnings)
  }

  /// Returns the path of the file or folder called `name`, or `nil` if the daemon did not report one or does not use
  /// it.
  package func path(_ name: String) -> String? { paths.first { $0.name == name }?.path }
}

extension WireType<[DaemonInfo.Path]> {
  fileprivate static var paths: WireType {
    WireType(
      "must be an object of strings", .dictionary(of: .any(of: .type("string"), .type("null")))
    ) { json in
      json.object?.members.map { ($0.key, $0.value.string) }
    } write: { paths in
      .object(JSONObject(paths.map { JSONObject.Member(key: $0.name, value: JSON($0.path)) }))
    }
  }
}

extension MetricFamily: TimelessWireValue {
  package static let fields = Fields<MetricFamily>(
    .required("name", \.name, .text), .required("type", \.type, .choice), .optional("unit", \.unit, .text),
    .required("help", \.help, .text), .required("samples", \.samples, .array(MetricSample.fields)),
    make: MetricFamily.init)
}

/// A sample contains either a `value` or a histogram's `count`, `sum` and `buckets`.
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

package import HearthCore

package struct GetInfo: ParameterlessMethod {
  package static let declaration = MethodDeclaration<DaemonInfo>(
    "daemon.getInfo", "Tell which daemon this is, when it started and where its files are.", isReadOnly: true)

  package init() {}
}

/// How the daemon and its sessions have fared, for graphs and alarms. What is counted begins at zero when the daemon starts
/// (`hearth_start_time_seconds`), as Prometheus expects it; but how often sessions were ended and how long that lasted is
/// counted from the first start on, for that is what people ask about after a reboot.
package struct GetMetrics: ControlMethod {
  package static let declaration = MethodDeclaration<MetricsReport>(
    "daemon.getMetrics", "Give what the daemon counts and measures, as JSON or as OpenMetrics text.", isReadOnly: true)
  package static let parameters = Fields<GetMetrics>(
    .optional("format", \.format, .choice, default: .json), make: Self.init)

  package let format: MetricsReport.Format

  package init(_ format: MetricsReport.Format) { self.format = format }
}

/// All metrics, in one of two forms.
package struct MetricsReport: TimelessWireValue {
  package static let fields = Fields<MetricsReport>(
    .omittable("metrics", \.metrics, .array(MetricFamily.fields)), .omittable("text", \.text, .text), make: Self.init)

  package enum Format: String, CaseIterable, Sendable {
    case json
    case openMetrics = "openmetrics"
  }

  /// As JSON; else nil.
  package let metrics: [MetricFamily]?
  /// OpenMetrics 1.0, whole lines; else nil.
  package let text: String?

  private init(metrics: [MetricFamily]?, text: String?) {
    self.metrics = metrics
    self.text = text
  }

  package init(_ metrics: [MetricFamily], as format: Format) {
    switch format {
    case .json: self.init(metrics: metrics, text: nil)
    case .openMetrics: self.init(metrics: nil, text: MetricsText.openMetrics(metrics))
    }
  }
}

package struct ReloadConfiguration: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "daemon.reload", "Read the configuration again; a bad one is refused whole and the old one stays.")

  package init() {}
}

package struct DiscoverMethods: ParameterlessMethod {
  package static let declaration = MethodDeclaration<OpenRPCDocument>(
    "rpc.discover", "Describe every method and notification, as an OpenRPC document.", isReadOnly: true)

  package init() {}
}

/// What the daemon says of itself: all but the paths stays as it is for one run.
package struct DaemonInfo: TimelessWireValue {
  package typealias Path = (name: String, path: String?)

  package static let fields = Fields<DaemonInfo>(
    .required("name", \.name, .text), .required("version", \.version, .text),
    .required("protocol", \.protocolNumber, .int), .required("pid", \.pid, .int),
    .required("startedAt", \.startedAt, .time), .required("capabilities", \.capabilities, .texts),
    .required("paths", \.paths, .paths), make: Self.init)

  package let name: String
  package let version: String
  package let protocolNumber: Int
  package let pid: Int
  package let startedAt: Timestamp
  package let capabilities: [String]
  /// Names of places (`state`, `socket`, …) and their paths; nil where there is none.
  package let paths: [Path]

  package init(
    name: String = "hearthd", version: String = HearthVersion.text, protocolNumber: Int = HearthVersion.protocolNumber,
    pid: Int, startedAt: Timestamp, capabilities: [String] = ["sessions", "outbox", "events"], paths: [Path]
  ) {
    self.name = name
    self.version = version
    self.protocolNumber = protocolNumber
    self.pid = pid
    self.startedAt = startedAt
    self.capabilities = capabilities
    self.paths = paths
  }

  /// It is nil where there is no such place.
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

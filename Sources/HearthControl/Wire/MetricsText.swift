package import HearthCore

/// Formats metrics as text for Prometheus and OpenMetrics.
package enum MetricsText {
  /// Returns OpenMetrics 1.0 text (https://prometheus.io/docs/specs/om/open_metrics_spec/, "Text format").
  package static func openMetrics(_ families: [MetricFamily]) -> String {
    families.map { family in
      var head = ["# TYPE \(family.name) \(family.type.rawValue)"]
      if let unit = family.unit { head.append("# UNIT \(family.name) \(unit)") }
      head.append("# HELP \(family.name) \(escaped(family.help))")
      return lines(head + family.lines)
    }.joined() + "# EOF\n"
  }

  /// Returns Prometheus text 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/), for `promtool check
  /// metrics` and node_exporter's textfile collector. Unlike in OpenMetrics, the names of counters end with `_total` in
  /// HELP and TYPE lines too.
  package static func prometheus(_ families: [MetricFamily]) -> String {
    families.map { family in
      let name = family.sampleName
      return lines(["# HELP \(name) \(escaped(family.help))", "# TYPE \(name) \(family.type.rawValue)"] + family.lines)
    }.joined()
  }

  private static func lines(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

  /// Escapes characters that are not allowed in lines and quoted strings.
  fileprivate static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: String(character)
      }
    }.joined()
  }

  /// Formats a number with as few digits as possible. Whole numbers are written without a fraction.
  fileprivate static func number(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }
}

extension MetricFamily {
  fileprivate var sampleName: String { type == .counter ? name + "_total" : name }

  fileprivate var lines: [String] { samples.flatMap(lines) }

  private func lines(of sample: MetricSample) -> [String] {
    switch sample.value {
    case .number(let number): return [line(sampleName, sample.labels, MetricsText.number(number))]
    case .histogram(let histogram):
      let buckets = histogram.buckets.map { ("\($0.bound)", $0.count) } + [("+Inf", histogram.count)]
      return buckets.map { line(name + "_bucket", sample.labels + [MetricLabel("le", $0)], "\($1)") } + [
        line(name + "_sum", sample.labels, MetricsText.number(histogram.sum)),
        line(name + "_count", sample.labels, "\(histogram.count)"),
      ]
    }
  }

  private func line(_ name: String, _ labels: [MetricLabel], _ value: String) -> String {
    let pairs = labels.map { "\($0.name)=\"\(MetricsText.escaped($0.value))\"" }.joined(separator: ",")
    return name + (pairs.isEmpty ? "" : "{\(pairs)}") + " " + value
  }
}

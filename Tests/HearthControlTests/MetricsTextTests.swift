import HearthControl
import HearthCore
import Testing

@Suite("Metrics as text")
struct MetricsTextTests {
  private let families = [
    MetricFamily(
      name: "hearth_delivered_bytes", type: .counter, unit: "bytes", help: "Size.",
      samples: [
        MetricSample([MetricLabel("account", "home")], .number(0)),
        MetricSample([MetricLabel("account", #"a"b\c"#)], .number(12_345_678)),
      ]),
    MetricFamily(name: "hearth_connections", type: .gauge, unit: nil, help: "Now.", samples: []),
    MetricFamily(
      name: "hearth_rpc_duration_seconds", type: .histogram, unit: "seconds", help: "Time.",
      samples: [
        MetricSample(
          [MetricLabel("method", "rpc.discover")],
          .histogram(
            Histogram(
              buckets: [.init(bound: 0.0001, count: 1), .init(bound: 1, count: 2)], count: 3, sum: 70.00025)))
      ]),
  ]

  private let samples = #"""
    hearth_rpc_duration_seconds_bucket{method="rpc.discover",le="0.0001"} 1
    hearth_rpc_duration_seconds_bucket{method="rpc.discover",le="1.0"} 2
    hearth_rpc_duration_seconds_bucket{method="rpc.discover",le="+Inf"} 3
    hearth_rpc_duration_seconds_sum{method="rpc.discover"} 70.00025
    hearth_rpc_duration_seconds_count{method="rpc.discover"} 3
    """#

  @Test("OpenMetrics: type, unit and help of each family, _total behind a counter's samples, # EOF at the end")
  func openMetrics() {
    #expect(
      MetricsText.openMetrics(families) == #"""
        # TYPE hearth_delivered_bytes counter
        # UNIT hearth_delivered_bytes bytes
        # HELP hearth_delivered_bytes Size.
        hearth_delivered_bytes_total{account="home"} 0
        hearth_delivered_bytes_total{account="a\"b\\c"} 12345678
        # TYPE hearth_connections gauge
        # HELP hearth_connections Now.
        # TYPE hearth_rpc_duration_seconds histogram
        # UNIT hearth_rpc_duration_seconds seconds
        # HELP hearth_rpc_duration_seconds Time.

        """# + samples + "\n# EOF\n")
  }

  @Test("Prometheus's own format: _total in a counter's name, neither unit nor end")
  func prometheus() {
    #expect(
      MetricsText.prometheus(families) == #"""
        # HELP hearth_delivered_bytes_total Size.
        # TYPE hearth_delivered_bytes_total counter
        hearth_delivered_bytes_total{account="home"} 0
        hearth_delivered_bytes_total{account="a\"b\\c"} 12345678
        # HELP hearth_connections Now.
        # TYPE hearth_connections gauge
        # HELP hearth_rpc_duration_seconds Time.
        # TYPE hearth_rpc_duration_seconds histogram

        """# + samples + "\n")
  }

  @Test("As JSON a sample has its value, or a histogram's count, sum and buckets, and nothing that is null of these")
  func json() throws {
    let json = families.map(\.json)
    #expect(
      json[0].description == #"""
        {"name":"hearth_delivered_bytes","type":"counter","unit":"bytes","help":"Size.","samples":[\#
        {"labels":{"account":"home"},"value":0},{"labels":{"account":"a\"b\\c"},"value":12345678}]}
        """#)
    #expect(
      json[2]["samples"]?.description == #"""
        [{"labels":{"method":"rpc.discover"},"count":3,"sum":70.00025,\#
        "buckets":[{"le":0.0001,"count":1},{"le":1,"count":2}]}]
        """#)
    #expect(try json.map { try #require(MetricFamily(json: JSON(parsing: $0.bytes))) } == families)
  }

  @Test("JSON has no infinity")
  func infinity() {
    #expect(JSON(finite: .infinity) == .null)
    #expect(JSON(finite: 2).description == "2")
    #expect(JSON(finite: 0.00001).description == "1e-05")
  }
}

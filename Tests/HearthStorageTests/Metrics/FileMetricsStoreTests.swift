import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthStorage

@Suite("metrics.json")
struct FileMetricsStoreTests {
  let bench = Bench()
  private let path = Bench.secure + "/metrics.json"

  private var store: FileMetricsStore {
    FileMetricsStore(
      path: path, files: bench.files, clock: bench.clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private let families = [
    MetricFamily(
      name: "hearth_automatic_sign_outs", type: .counter, unit: nil, help: "Ends.",
      samples: [MetricSample([MetricLabel("account", "work")], .number(3))]),
    MetricFamily(
      name: "hearth_signed_out_seconds", type: .histogram, unit: "seconds", help: "Time.",
      samples: [
        MetricSample(
          [MetricLabel("account", "work")],
          .histogram(Histogram(buckets: [.init(bound: 0.5, count: 1)], count: 2, sum: 60.25)))
      ]),
  ]

  @Test("Saved metrics are there after a restart, readable only by their owner")
  func roundTrip() async throws {
    #expect(try await store.recall() == [])
    try await store.keep(families)
    #expect(try await store.recall() == families)
    #expect(bench.files.mode(at: path) == 0o600)
    try await store.keep([])
    #expect(try await store.recall() == [])
  }

  @Test(
    "A file that cannot be understood is moved aside, and the counters start again",
    arguments: [
      "", "nonsense", "{}", #"{"version":1,"metrics":[7]}"#,
      #"{"version":1,"metrics":[{"name":"x","type":"counter","help":"","samples":[{"labels":{}}]}]}"#,
    ])
  func corrupt(_ text: String) async throws {
    bench.files.put(text, at: path)
    #expect(try await store.recall() == [])
    #expect(try await bench.files.names(in: Bench.secure).filter { $0.hasPrefix("metrics.json.corrupt-") }.count == 1)
    #expect(bench.files.text(at: path) == nil)
  }

  @Test("A file that a newer version wrote, or that cannot be read now, is an error and stays")
  func newer() async throws {
    let text = #"{"version":2,"metrics":{}}"#
    bench.files.put(text, at: path)
    await #expect(throws: AccessFailure.self) { try await store.recall() }
    #expect(bench.files.text(at: path) == text)
    try await store.keep(families)
    bench.files.failAll(under: Bench.secure, with: .permissionDenied)
    await #expect(throws: AccessFailure.self) { try await store.recall() }
    await #expect(throws: AccessFailure.self) { try await store.keep([]) }
    bench.files.failAll(under: Bench.secure, with: nil)
    #expect(try await store.recall() == families)
  }
}

import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("sinks.json")
struct FileSinkRecordTests {
  private let bench = Bench()
  private let path = Bench.secure + "/sinks.json"
  private var record: FileSinkRecord { FileSinkRecord(path: path, files: bench.files, clock: bench.clock) }

  @Test("the record is there after a restart, readable only by its owner")
  func roundTrip() async throws {
    let netrc = SinkTarget.netrc(.sample, in: "/run:a/b")
    #expect(try await record.recall() == [:])
    try await record.keep([.file("/run/b"): ["1-2"], netrc: [""], .file("/run/a"): ["3-4", "5-6"]])
    #expect(try await record.recall() == [.file("/run/a"): ["3-4", "5-6"], .file("/run/b"): ["1-2"], netrc: [""]])
    #expect(bench.files.mode(at: path) == 0o600)
    try await record.keep([:])
    #expect(try await record.recall() == [:])
    try await bench.files.write(Array(#"{"version":1,"paths":["/run/a","other:/b"]}"#.utf8), to: path)
    #expect(try await record.recall() == [.file("/run/a"): []], "an earlier version recorded no marks")
  }

  @Test(
    "a record that cannot be understood names no path, and is moved aside", arguments: ["", "{}", #"{"version":1}"#])
  func garbage(_ text: String) async throws {
    try await record.keep([.file("/run/a"): []])
    try await bench.files.write(Array(text.utf8), to: path)
    await #expect(throws: AccessFailure.self) { _ = try await record.recall() }
    let moved = try await bench.files.names(in: Bench.secure).filter { $0.hasPrefix("sinks.json.corrupt-") }
    #expect(moved.count == 1 && bench.files.text(at: "\(Bench.secure)/\(moved.first ?? "")") == text)
    try await record.keep([.file("/run/b"): []])
    #expect(try await record.recall() == [.file("/run/b"): []])
  }

  @Test("a record from a newer version stays unchanged and is not overwritten")
  func newer() async throws {
    let text = #"{"version":2,"places":["/run/a"]}"#
    try await record.keep([.file("/run/a"): []])
    try await bench.files.write(Array(text.utf8), to: path)
    await #expect(throws: AccessFailure.self) { _ = try await record.recall() }
    await #expect(throws: AccessFailure.self) { try await record.keep([.file("/run/b"): []]) }
    #expect(try await bench.files.names(in: Bench.secure) == ["sinks.json"])
    #expect(bench.files.text(at: path) == text)
  }
}

import TestSupport
import Testing

/// `make bench` is run by hand. Here its longest part is, with a few items, so that it does not rot.
@Suite("The benchmark", .serialized, .mayBlock) struct BenchmarkTests {
  @Test("has all items delivered in each contest, and prints what each item costs")
  func drain() async throws {
    let folder = TemporaryFolder()
    let bench = try ChildProcess(
      "hearth-bench", ["drain", "--items", "20", "--drains", "1", "--folder", folder.path], outputFolder: folder.path)
    #expect(try bench.wait() == .exited(0), "\(bench.errors)")
    #expect(bench.output.split(separator: "\n").filter { $0.hasSuffix(" us") }.count == 4, "\(bench.output)")
  }
}

import Dispatch
import NIOCore
import Testing

@testable import HearthOAuth

@Suite("The steps before a request", .timeLimit(.minutes(1))) struct NetworkStepsTests {
  @Test("A resolver that does not answer is not waited for beyond the time of a step")
  func silentResolver() async {
    let isOver = DispatchSemaphore(value: 0)
    defer { isOver.signal() }
    let steps = NetworkSteps(timeout: .milliseconds(20)) { _, _ in
      isOver.wait()
      return []
    }
    await #expect(throws: Reason("the resolver did not respond within 20 ms")) {
      try await steps.addresses(of: "api.example.com", port: 443)
    }
  }

  @Test("What the resolver says is what is found")
  func answer() async throws {
    let address = try SocketAddress(ipAddress: "192.0.2.1", port: 443)
    let steps = NetworkSteps(timeout: .seconds(60)) { _, _ in [address] }
    #expect(try await steps.addresses(of: "api.example.com", port: 443) == [address])
    let failing = NetworkSteps(timeout: .seconds(60)) { _, _ in throw Reason("no such name") }
    await #expect(throws: Reason("no such name")) { try await failing.addresses(of: "api.example.com", port: 443) }
  }
}

import HearthCore
import TestSupport
import Testing

@Suite("Polling for a device")
struct DevicePollingTests {
  private func polling(every interval: Duration) -> DevicePolling {
    DevicePolling(
      DeviceSignIn(
        deviceCode: Secret("d"), userCode: "u", verificationURI: "https://id.example.com", verificationURIComplete: nil,
        lifetime: .seconds(600), interval: interval), at: .sample)
  }

  @Test("The first poll comes an interval after the code, and the next ones at the same interval")
  func paced() {
    var polling = polling(every: .seconds(5))
    #expect(polling.nextAt == .sample + .seconds(5))
    polling.answered(.pending, at: .sample + .seconds(6))
    #expect(polling.nextAt == .sample + .seconds(11))
  }

  @Test("slow_down adds five seconds permanently (RFC 8628, section 3.5)")
  func slowDown() {
    var polling = polling(every: .seconds(5))
    polling.answered(.slowDown, at: .sample)
    polling.answered(.slowDown, at: .sample)
    polling.answered(.pending, at: .sample)
    #expect(polling.nextAt == .sample + .seconds(15))
  }

  @Test("A missing answer doubles the interval up to a minute, and never shortens it")
  func unanswered() {
    var polling = polling(every: .seconds(5))
    for _ in 0..<10 { polling.answered(.unanswered(message: "No answer."), at: .sample) }
    #expect(polling.interval == .seconds(60))
    var slow = self.polling(every: .seconds(90))
    slow.answered(.unanswered(message: "No answer."), at: .sample)
    #expect(slow.interval == .seconds(90))
  }

  @Test("A provider that names no interval is still polled with pauses")
  func zero() {
    #expect(polling(every: .zero).interval == .seconds(1))
  }
}

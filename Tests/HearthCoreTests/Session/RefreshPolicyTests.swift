import HearthCore
import TestSupport
import Testing

@Suite("When a grant is refreshed, and how long to wait after failures")
struct RefreshPolicyTests {
  private let settings = RefreshSettings()

  private func due(_ lifetime: Duration, share: Double = 0) -> Duration? {
    settings.refreshTime(of: Credential.sample(1, issuedAt: .sample, lifetime: lifetime).grant, share: share)
      .map { $0 - .sample }
  }

  @Test(
    "is due before expiry by the shorter of the margin and its share of the lifetime",
    arguments: [
      (Duration.seconds(3600), Duration.seconds(3300)), (.seconds(600), .seconds(480)), (.seconds(60), .seconds(48)),
      (.seconds(2), .milliseconds(1600)), (.seconds(1), .seconds(1)), (.zero, .seconds(1)),
      (.seconds(86_400 * 366 * 5), .seconds(86_400 * 366 * 5 - 300)),
    ])
  func isDue(lifetime: Duration, after: Duration) {
    #expect(due(lifetime) == after)
  }

  @Test("comes earlier by up to a tenth of the margin, never later")
  func jitter() throws {
    let most = try #require(due(.seconds(3600), share: 0.999))
    #expect(most >= .seconds(3270) && most < .seconds(3271))
    for _ in 0..<100 {
      var random = SeededGenerator(seed: 3)
      let time = try #require(due(.seconds(3600), share: Double.random(in: 0..<1, using: &random)))
      #expect(time >= .seconds(3270) && time <= .seconds(3300))
    }
  }

  @Test("is never due if nothing expires")
  func neverDue() {
    #expect(settings.refreshTime(of: Credential.sample(1, issuedAt: .sample, lifetime: nil).grant, share: 0) == nil)
  }

  @Test("waits between half a step and a whole one, which doubles up to its limit")
  func backsOff() {
    for (failures, step) in [(1, 1), (2, 2), (3, 4), (8, 128), (9, 256), (10, 300), (11, 300), (1_000_000, 300)] {
      #expect(settings.backoff(failures: failures, share: 0) == .seconds(Double(step) / 2))
      let longest = settings.backoff(failures: failures, share: 0.999_999)
      #expect(longest > .seconds(Double(step) * 0.99) && longest <= .seconds(step))
    }
    #expect(settings.backoff(failures: 0, share: 0) == .milliseconds(500))
  }

  @Test("waits no longer than its limit even if the first step is longer")
  func backsOffFromFar() {
    var patient = settings
    (patient.backoffInitial, patient.backoffMax) = (.seconds(36_500 * 86_400), .seconds(36_500 * 86_400))
    #expect(patient.backoff(failures: 100, share: 0) <= patient.backoffMax)
  }

  @Test("waits at least half of the longest step while the configuration is rejected")
  func waitsForTheConfiguration() {
    #expect(settings.configurationBackoff(share: 0) == .seconds(150))
    var hasty = settings
    hasty.backoffMax = .milliseconds(1)
    #expect(hasty.configurationBackoff(share: 0) >= RefreshSettings.leastGap)
  }

  @Test("never waits for zero time, whatever is configured")
  func neverZero() {
    var hasty = settings
    hasty.backoffInitial = .zero
    #expect(hasty.backoff(failures: 1, share: 0) > .zero)
  }
}

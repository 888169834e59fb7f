import HearthCore
import Testing

@Suite("The skew of a server's clock")
struct ClockSkewTests {
  @Test("is news above a minute, once")
  func news() {
    var skew = ClockSkew()
    #expect(hears(&skew, [59, 3600, 3601, 3599]) == [false, true, false, false])
  }

  @Test("is news again when it changes by more than a minute, or comes back")
  func newsAgain() {
    var skew = ClockSkew()
    #expect(hears(&skew, [-3600, -7200, 1, -7200]) == [true, true, false, true])
  }

  private func hears(_ skew: inout ClockSkew, _ seconds: [Int]) -> [Bool] {
    seconds.map { skew.observe(.seconds($0)) }
  }
}

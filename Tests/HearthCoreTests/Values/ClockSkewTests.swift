import HearthCore
import Testing

@Suite("The skew of a server's clock")
struct ClockSkewTests {
  @Test("is reported above a minute, once")
  func large() {
    var skew = ClockSkew()
    #expect(reports(&skew, [59, 3600, 3601, 3599]) == [false, true, false, false])
  }

  @Test("is reported again when it changes by more than a minute, or comes back")
  func changed() {
    var skew = ClockSkew()
    #expect(reports(&skew, [-3600, -7200, 1, -7200]) == [true, true, false, true])
  }

  private func reports(_ skew: inout ClockSkew, _ seconds: [Int]) -> [Bool] {
    seconds.map { skew.observe(.seconds($0)) }
  }
}

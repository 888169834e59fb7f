import HearthCore
import Testing

@Suite("The skew of a provider's clock")
struct ClockSkewTests {
  @Test("is nothing as long as it may be the coarseness of the header")
  func coarseness() {
    var skew = ClockSkew()
    #expect(!skew.observe(.seconds(4)))
    #expect(skew.offset == .zero)
    #expect(!skew.observe(.seconds(-4)))
    #expect(skew.offset == .zero)
  }

  @Test("counts from five seconds on, and does not follow what wobbles by less")
  func steadiness() {
    var skew = ClockSkew()
    _ = skew.observe(.seconds(30))
    #expect(skew.offset == .seconds(30))
    _ = skew.observe(.seconds(33))
    #expect(skew.offset == .seconds(30))
    _ = skew.observe(.seconds(36))
    #expect(skew.offset == .seconds(36))
    _ = skew.observe(.seconds(1))
    #expect(skew.offset == .zero)
  }

  @Test("is news above a minute, once")
  func news() {
    var skew = ClockSkew()
    #expect(!skew.observe(.seconds(59)))
    #expect(skew.observe(.seconds(3600)))
    #expect(!skew.observe(.seconds(3601)))
  }

  @Test("moves the other way when this machine's clock is put right")
  func step() {
    var skew = ClockSkew()
    _ = skew.observe(.seconds(3600))
    skew.machineStepped(by: .seconds(3600))
    #expect(skew.offset == .zero)
    skew.machineStepped(by: .seconds(-600))
    #expect(skew.offset == .seconds(600))
  }

  @Test("stays nothing when the clock is set and no server has been heard")
  func stepUnmeasured() {
    var skew = ClockSkew()
    skew.machineStepped(by: .seconds(3600))
    #expect(skew.offset == .zero)
  }
}

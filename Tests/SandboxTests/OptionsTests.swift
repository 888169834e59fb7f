import ArgumentParser
import Testing

@testable import hearth_sandbox

@Suite struct OptionsTests {
  @Test("seconds are read with and without their unit, and nothing else is")
  func seconds() {
    #expect(Seconds(argument: "3600")?.value == 3600)
    #expect(Seconds(argument: "0.5")?.value == 0.5)
    #expect(Seconds(argument: "90s")?.value == 90)
    #expect(Seconds(argument: "-1") == nil)
    #expect(Seconds(argument: "1h") == nil)
    #expect(Seconds(argument: "inf") == nil)
  }

  @Test("a port that is none is refused")
  func port() {
    #expect(throws: (any Error).self) { try HearthSandbox.parse(["--port", "65536"]) }
    #expect(throws: Never.self) { try HearthSandbox.parse(["--port", "0"]) }
  }
}

import ArgumentParser
import Logging
import Testing

@testable import hearthd

@Suite struct OptionsTests {
  @Test("without options there is nothing said")
  func none() throws {
    let options = try Options.parse([])
    #expect(options.config == nil && options.socket == nil && options.stateDir == nil && options.logLevel == nil)
    #expect(!options.checkConfig && !options.checkOutbox && !options.version && !options.isReport)
  }

  @Test("every option of the daemon is read")
  func all() throws {
    let options = try Options.parse([
      "--config", "c.toml", "--socket", "/s", "--state-dir", "/d", "--log-level", "warning", "--check-config",
      "--check-outbox", "--version",
    ])
    #expect(options.logLevel == .warning)
    #expect(options.checkConfig && options.checkOutbox && options.version)
    let paths = options.paths(environment: [:], workingDirectory: "/cwd")
    #expect(paths.configurationOption == "/cwd/c.toml")
    #expect(try paths.socket() == "/s")
    #expect(try paths.state().folder == "/d")
  }

  @Test(
    "what is to be reported is no daemon", arguments: [["--describe"], ["--describe-providers"], ["--discover", "a"]])
  func reports(_ line: [String]) throws {
    #expect(try Options.parse(line).isReport)
  }

  @Test("a log level that is none is refused with those that are")
  func logLevel() {
    let error = #expect(throws: (any Error).self) { try Options.parse(["--log-level", "loud"]) }
    let message = error.map { Options.message(for: $0) } ?? ""
    #expect(message.contains("The log level must be one of trace, debug, info, notice, warning, error, critical."))
  }
}

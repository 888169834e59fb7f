import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite("The sections of the troubleshooting page") struct TroubleshootingSectionTests {
  @Test("Each is a heading of the page", arguments: TroubleshootingSection.allCases)
  func heading(section: TroubleshootingSection) {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    #expect(Files.text("/\(root)/etc/docs/troubleshooting.md").contains("\n## \(section.rawValue)\n"))
  }

  @Test(
    "A finding names the one that helps",
    arguments: [
      (Finding(.bad(.noDaemon), "socket", ""), .noDaemon), (Finding(.bad(.failed), "configuration", ""), .noDaemon),
      (Finding(.bad(.locked), "session", ""), .locked), (Finding(.bad(.signInNeeded), "session", ""), .signIn),
      (Finding(.bad(.later), "session", ""), .provider), (Finding(.doubtful, "session", ""), .refresh),
      (Finding(.bad(.later), "provider.connection", ""), .provider), (Finding(.bad(.failed), "clock", ""), .clock),
      (Finding(.bad(.failed), "api.answer", ""), .api), (Finding(.doubtful, "outbox", ""), .outbox),
      (Finding(.good, "session", ""), nil), (Finding(.doubtful, "daemon", ""), nil),
      (Finding(.bad(.failed), "sink", ""), nil),
    ] as [(Finding, TroubleshootingSection?)])
  func finding(finding: Finding, section: TroubleshootingSection?) {
    #expect(TroubleshootingSection(finding) == section)
  }

  @Test("The advice names each once, in the order of the page")
  func advice() {
    let findings = [
      Finding(.doubtful, "clock", ""), Finding(.bad(.locked), "session", ""), Finding(.bad(.locked), "session", ""),
    ]
    #expect(
      TroubleshootingSection.advice(for: findings)
        == "For help, see \"The session is locked\", \"The clock is wrong\" in \"hearthctl docs troubleshooting\".")
    #expect(TroubleshootingSection.advice(for: [Finding(.good, "clock", "")]) == nil)
  }
}

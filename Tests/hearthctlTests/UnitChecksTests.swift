import Testing

@testable import hearthctl

@Suite struct UnitChecksTests {
  private func finding(
    socket: (load: String, file: String, active: String), service: (load: String, file: String, active: String)
  ) -> Finding? {
    let paragraphs = [("hearthd.socket", socket), ("hearthd.service", service)].map { name, unit in
      "Id=\(name)\nLoadState=\(unit.load)\nActiveState=\(unit.active)\nUnitFileState=\(unit.file)\n"
    }
    return Finding.units(paragraphs.joined(separator: "\n"))
  }

  @Test("units that are installed and enabled are told with their states")
  func good() {
    let found = finding(socket: ("loaded", "disabled", "inactive"), service: ("loaded", "enabled", "active"))
    #expect(found == Finding(.good, "unit", "hearthd.socket is inactive, hearthd.service is active"))
  }

  @Test("what is not installed, not enabled, or has failed is told with what to do")
  func wrong() {
    let missing = finding(socket: ("not-found", "", "inactive"), service: ("not-found", "", "inactive"))
    #expect(missing?.verdict == .doubtful)
    #expect(missing?.message.contains("make install") == true)
    let disabled = finding(socket: ("loaded", "enabled", "active"), service: ("loaded", "disabled", "active"))
    #expect(disabled?.verdict == .doubtful)
    #expect(disabled?.message.contains("enable --now hearthd.service hearthd.socket") == true)
    let failed = finding(socket: ("loaded", "enabled", "active"), service: ("loaded", "enabled", "failed"))
    #expect(failed?.verdict == .bad(.failed))
    #expect(failed?.message.contains("journalctl --user -u hearthd.service") == true)
  }

  @Test("nothing is told where no user manager has answered", arguments: ["", "Failed to connect to bus\n"])
  func noManager(text: String) { #expect(Finding.units(text) == nil) }
}

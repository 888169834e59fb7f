import HearthCore

extension Finding {
  /// Checks Hearth's user units with `systemctl show`. Returns `nil` if systemctl is missing or the user manager does
  /// not answer.
  static func units() -> Finding? {
    guard let systemctl = Subprogram.find("systemctl", in: Subprogram.searchPath),
      let output = try? systemctl.output(
        ["--user", "show", "--property=Id,LoadState,UnitFileState,ActiveState", "hearthd.socket", "hearthd.service"],
        within: .seconds(5))
    else { return nil }
    return units(String(decoding: output, as: UTF8.self))
  }

  /// Checks the output of systemctl, which contains a paragraph of `Name=value` lines for each unit.
  static func units(_ text: String) -> Finding? {
    let units = text.split(separator: "\n\n").map { paragraph in
      Dictionary(
        paragraph.split(separator: "\n").compactMap { line in
          line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }, uniquingKeysWith: { first, _ in first })
    }
    guard !units.isEmpty, units.allSatisfy({ $0["LoadState"] != nil }) else { return nil }
    guard units.contains(where: { $0["LoadState"] == "loaded" }) else {
      return Finding(
        .doubtful, "unit",
        "Hearth is not installed as a user service. Run \"make install\" or \"install.sh\", or start hearthd yourself.")
    }
    if let failed = units.first(where: { $0["ActiveState"] == "failed" }), let name = failed["Id"] {
      return Finding(
        .bad(.failed), "unit",
        "\(name) has failed. To find out why, run \"journalctl --user -u \(name)\". Then start it again.")
    }
    // The socket alone would start the daemon only at the first call.
    let service = units.first { $0["Id"] == "hearthd.service" }
    guard service?["UnitFileState"]?.hasPrefix("enabled") == true else {
      return Finding(
        .doubtful, "unit",
        "Hearth does not start at login. Run \"systemctl --user enable --now hearthd.service hearthd.socket\".")
    }
    let states = units.map { "\($0["Id"] ?? "") is \($0["ActiveState"] ?? "")" }
    return Finding(.good, "unit", states.joined(separator: ", "))
  }
}

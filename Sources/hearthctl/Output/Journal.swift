import HearthControl

enum Journal {
  /// Returns the newest lines, oldest first, or `nil` if journalctl is missing or does not finish in time. If `account`
  /// is given, returns only lines about that account.
  static func lines(_ count: Int, of account: String? = nil) -> [String]? {
    let filter = account.map { ["HEARTH_ACCOUNT=\($0)"] } ?? []
    guard let journalctl = Subprogram.find("journalctl", in: Subprogram.searchPath),
      let output = try? journalctl.output(
        ["--user", "--unit=hearthd", "--lines=\(count)", "--output=short-iso", "--no-pager", "--quiet"] + filter,
        within: .seconds(10))
    else { return nil }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

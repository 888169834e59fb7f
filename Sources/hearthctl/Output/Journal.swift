import HearthControl

/// The daemon's messages in the journal of the user's services.
enum Journal {
  /// The newest lines, the last one at the end; `nil` if there is no journal to read. With `account`, only lines about
  /// it.
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

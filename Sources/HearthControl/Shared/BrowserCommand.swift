import HearthCore

/// The browser programs in `$BROWSER`: commands separated by colons, each tried if the earlier ones cannot be run.
/// Spaces separate the words of a command, without quoting; the URL replaces `%s`, or is appended (xdg-open(1) of
/// xdg-utils; Python's webbrowser does the same).
package enum BrowserCommand {
  /// The command lines to try, in order, from the value of `$BROWSER`; xdg-open if it has no command. Empty if the
  /// address is not a web page: it may come from untrusted metadata, and openers run programs for other schemes.
  package static func lines(_ variable: String?, for url: String) -> [[String]] {
    guard isPage(url) else { return [] }
    let named = commands(variable).map { words in
      words.contains { $0.contains("%s") } ? words.map { $0.replacing("%s", with: url) } : words + [url]
    }
    return named.isEmpty ? [["xdg-open", url]] : named
  }

  /// Whether `$BROWSER` names a program.
  package static func isNamed(_ variable: String?) -> Bool { !commands(variable).isEmpty }

  /// Whether the address is `https`, or `http` on this machine, and a single word that is not an option. No shell sees
  /// it.
  private static func isPage(_ url: String) -> Bool {
    url.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (try? HTTPURL(String(url.prefix { $0 != "#" }))) != nil
  }

  private static func commands(_ variable: String?) -> [[String]] {
    (variable ?? "").split(separator: ":").map { command in
      command.split { $0 == " " || $0 == "\t" }.map(String.init)
    }.filter { !$0.isEmpty }
  }
}

import HearthCore

/// Parses `$BROWSER`, a list of commands separated by colons. A command is tried only if the previous commands fail.
/// Commands are split at spaces without quoting. The URL replaces `%s` or is appended, as in xdg-open(1) and Python's
/// webbrowser.
package enum BrowserCommand {
  /// Returns the command lines to try, in order: those in `$BROWSER`, or else xdg-open. If the URL is not a web page,
  /// returns an empty array, because the URL may be untrusted and openers run programs for other schemes.
  package static func lines(_ variable: String?, for url: String) -> [[String]] {
    guard isPage(url) else { return [] }
    let named = commands(variable).map { words in
      words.contains { $0.contains("%s") } ? words.map { $0.replacing("%s", with: url) } : words + [url]
    }
    return named.isEmpty ? [["xdg-open", url]] : named
  }

  package static func isNamed(_ variable: String?) -> Bool { !commands(variable).isEmpty }

  /// Returns whether the URL is an `https` URL, or an `http` URL on this machine, in printable ASCII without spaces.
  private static func isPage(_ url: String) -> Bool {
    url.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (try? HTTPURL(String(url.prefix { $0 != "#" }))) != nil
  }

  private static func commands(_ variable: String?) -> [[String]] {
    (variable ?? "").split(separator: ":").map { command in
      command.split { $0 == " " || $0 == "\t" }.map(String.init)
    }.filter { !$0.isEmpty }
  }
}

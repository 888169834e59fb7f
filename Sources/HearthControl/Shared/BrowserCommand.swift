/// The browser programs in `$BROWSER`: commands separated by colons, each tried if those before it cannot be run.
/// Spaces separate the words of a command, without quoting; the URL replaces `%s`, or is appended. (The xdg-open(1) of
/// xdg-utils; Python's webbrowser agrees.)
package enum BrowserCommand {
  /// The command lines to try in order, from the value of `$BROWSER`. Without a command in it, xdg-open is used.
  package static func lines(_ variable: String?, for url: String) -> [[String]] {
    let named = commands(variable).map { words in
      words.contains { $0.contains("%s") } ? words.map { $0.replacing("%s", with: url) } : words + [url]
    }
    return named.isEmpty ? [["xdg-open", url]] : named
  }

  /// Whether `$BROWSER` names a program.
  package static func isNamed(_ variable: String?) -> Bool { !commands(variable).isEmpty }

  private static func commands(_ variable: String?) -> [[String]] {
    (variable ?? "").split(separator: ":").map { command in
      command.split { $0 == " " || $0 == "\t" }.map(String.init)
    }.filter { !$0.isEmpty }
  }
}

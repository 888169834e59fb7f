/// The programs that show a page, as `$BROWSER` names them: a list with colons between its commands, each one tried where
/// those before it cannot be run. Blanks separate the words of a command, and nothing quotes them; the address stands in
/// place of `%s`, or at the end. (The xdg-open(1) of xdg-utils; Python's webbrowser agrees.)
package enum BrowserCommand {
  /// The command lines to try in order; `variable`: the value of `$BROWSER`. xdg-open where it names none.
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

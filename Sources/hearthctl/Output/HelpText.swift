/// Formats the text of `--help`. ArgumentParser wraps every line except the usage line.
enum HelpText {
  /// Wraps the usage line between options, so that no line exceeds `columns`.
  static func fitted(_ help: String, columns: Int = 80) -> String {
    let start = "USAGE:"
    return help.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.hasPrefix(start), line.count > columns else { return String(line) }
      var lines = [start]
      for part in parts(of: line.dropFirst(start.count)) {
        if lines[lines.count - 1].count + 1 + part.count > columns {
          lines.append(String(repeating: " ", count: start.count))
        }
        lines[lines.count - 1] += " \(part)"
      }
      return lines.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// Splits the line into words. Text in brackets counts as one word.
  private static func parts(of usage: Substring) -> [String] {
    var (parts, depth) = ([""], 0)
    for character in usage {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      if character == " ", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    return parts.filter { !$0.isEmpty }
  }
}

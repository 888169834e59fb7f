import ArgumentParser
import HearthControl
import HearthCore

/// A table of rows. Each column is as wide as its widest cell.
///
/// If the columns do not fit, the least important columns are omitted. If the remaining columns do not fit either, each
/// row takes several lines. Only the last cell of a line is wrapped.
struct Table {
  struct Column {
    let heading: String
    /// Columns with the highest rank are omitted first. Columns with rank 0 are never omitted.
    let rank: Int
    /// Whether the column appears only if all columns are requested.
    let isExtra: Bool

    init(_ heading: String, rank: Int = 0, isExtra: Bool = false) {
      (self.heading, self.rank, self.isExtra) = (heading, rank, isExtra)
    }
  }

  /// The minimum width of the last column on a line, in characters.
  private static let leastRoom = 20
  private static let gap = 2
  private static let indent = 2

  let columns: [Column]
  var rows: [[String]] = []

  /// Formats the table for lines of `room` characters. If `room` is `nil`, there is no limit and all columns are
  /// included.
  func text(within room: Int?) -> String {
    let lines = [columns.map(\.heading)] + rows.map { $0.map { $0.shown() } }
    let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    var kept = columns.indices.filter { room == nil || !columns[$0].isExtra }
    let room = room ?? .max
    while Self.width(kept.map { widths[$0] }) > room,
      let last = kept.filter({ columns[$0].rank > 0 }).max(by: { columns[$0].rank < columns[$1].rank })
    {
      kept.removeAll { $0 == last }
    }
    let groups = Self.groups(kept, widths, room)
    return lines.flatMap { cells in
      groups.enumerated().flatMap { number, group in
        Self.line(group.map { (cells[$0], widths[$0]) }, indent: number == 0 ? 0 : Self.indent, room)
      }
    }.joined(separator: "\n")
  }

  /// Returns the total width of columns side by side, with the last column as narrow as possible.
  private static func width(_ widths: [Int], indent: Int = 0) -> Int {
    guard let last = widths.last else { return indent }
    return widths.dropLast().reduce(indent) { $0 + $1 + gap } + min(last, leastRoom)
  }

  /// Distributes the columns of a row among lines.
  private static func groups(_ kept: [Int], _ widths: [Int], _ room: Int) -> [[Int]] {
    kept.reduce(into: []) { groups, column in
      let indent = groups.count > 1 ? Self.indent : 0
      if let last = groups.last, width((last + [column]).map { widths[$0] }, indent: indent) <= room {
        groups[groups.count - 1].append(column)
      } else {
        groups.append([column])
      }
    }
  }

  private static func line(_ cells: [(text: String, width: Int)], indent: Int, _ room: Int) -> [String] {
    let start = cells.dropLast().reduce(String(repeating: " ", count: indent)) {
      $0 + $1.text.padded(to: $1.width + gap)
    }
    // Do not truncate a first cell that has its own line, because it identifies the row.
    let last = cells.last?.text ?? ""
    let parts = cells.count == 1 && indent == 0 ? [last] : last.wrapped(to: room - start.count, cutting: true)
    return parts.enumerated().map { number, part in
      (number == 0 ? start + part : String(repeating: " ", count: start.count) + part).trimmingBlanksAtEnd()
    }
  }
}

struct ListOptions: ParsableArguments {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case wide, json
  }

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Output format: wide (all columns) or json (same as --json).", valueName: "format"))
  var format: Format?

  /// Prints `json` or the result of `text`. `room` is the maximum number of characters per line, or `nil` for no limit.
  func show(_ json: JSON, _ output: Output, _ text: (_ room: Int?) throws -> String) rethrows {
    try Output(isJSON: output.isJSON || format == .json).showVerbatim(json) {
      try text(format == .wide ? nil : Output.columns)
    }
  }
}

extension String {
  /// Wraps the text between words into lines of at most `columns` characters. A quoted command counts as one word, so
  /// that it can be copied. A word that does not fit on a line gets its own line or, if `cutting` is true, is
  /// truncated.
  func wrapped(to columns: Int, cutting: Bool = false) -> [String] {
    guard count > columns else { return [self] }
    var lines: [String] = []
    var line: String?
    for word in words {
      guard let begun = line else {
        line = word
        continue
      }
      let left = columns - begun.count - 1
      if word.count <= left || cutting && word.count > columns / 2 && left > columns / 3 {
        line = "\(begun) \(word)"
      } else {
        lines.append(begun)
        line = word
      }
    }
    lines.append(line ?? "")
    return cutting ? lines.map { $0.cut(to: columns) } : lines
  }

  /// The words of the text. A quoted command counts as one word.
  private var words: [String] {
    var words: [String] = []
    var quote: Character?
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      var rest = word
      if quote == nil {
        words.append(String(word))
        rest = word.drop { $0 == "(" }
        guard let first = rest.popFirst(), "\"'".contains(first), Self.programs.contains(where: rest.hasPrefix)
        else { continue }
        quote = first
      } else {
        words[words.count - 1] += " \(word)"
      }
      if let end = quote, rest.contains(end) { quote = nil }
    }
    return words
  }

  private static let programs = ["hearth", "systemctl"]

  /// Wraps each line and preserves its indentation. Lines that contain columns (two spaces in a row) are not wrapped.
  func fitted(to columns: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let text = line.drop { $0 == " " }
      if text.contains("  ") { return String(line) }
      let indent = line.count - text.count
      return String(repeating: " ", count: indent) + String(text).hanging(indent, within: columns)
    }.joined(separator: "\n")
  }

  /// Wraps text that starts after `indent` characters. The following lines are indented to match.
  func hanging(_ indent: Int, within columns: Int) -> String {
    wrapped(to: columns - indent).joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// Truncates the text to `columns` characters.
  func cut(to columns: Int, hasBlocks: Bool = Screen.isUTF8(variable)) -> String {
    count <= columns ? self : prefix(Swift.max(columns - 1, 0)) + (hasBlocks ? "…" : "~")
  }

  func trimmingBlanksAtEnd() -> String {
    guard let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...last])
  }
}

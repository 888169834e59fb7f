/// A row of small bars that represent numbers. The largest number has the tallest bar, and `nil` is left blank.
struct Sparkline {
  let values: [Int?]
  /// Whether to use Unicode block characters instead of ASCII.
  let hasBlocks: Bool

  var text: String {
    let columns: [Character] =
      hasBlocks ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", ":", "-", "=", "+", "*", "#"]
    let largest = values.lazy.compactMap(\.self).max() ?? 0
    return String(
      values.map { value in
        guard let value else { return " " }
        guard value > 0 else { return columns[0] }
        return columns[max(value * (columns.count - 1) / largest, 1)]
      })
  }
}

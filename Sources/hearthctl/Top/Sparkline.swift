/// A row of small columns that represent numbers. The largest number has the highest column, and `nil` leaves a blank.
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

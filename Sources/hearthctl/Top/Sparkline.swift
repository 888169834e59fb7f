/// Numbers as small columns side by side: blank for `nil`, the lowest for 0, the highest for the largest.
struct Sparkline {
  let values: [Int?]
  /// Whether to use Unicode's block characters instead of ASCII.
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

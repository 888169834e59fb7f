/// Figures as small columns side by side: blank where there is none, the lowest for 0, the highest for the largest.
struct Sparkline {
  let values: [Int?]
  /// With the block characters of Unicode; else in ASCII.
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

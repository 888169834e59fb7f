import HearthCore

/// A value for each minute of the last hour.
struct LastHour {
  private static let minutes = 60

  /// The values by minute. Minutes without a value are missing.
  private var values: [Int64: Int] = [:]

  /// Adds to the count of the current minute.
  mutating func add(_ count: Int, at now: Timestamp) { keep(value(at: now) + count, at: now) }

  /// Records a value. Only the largest value of each minute is stored.
  mutating func see(_ value: Int, at now: Timestamp) { keep(max(self.value(at: now), value), at: now) }

  private func value(at now: Timestamp) -> Int { values[Self.minute(now)] ?? 0 }

  private mutating func keep(_ value: Int, at now: Timestamp) {
    let minute = Self.minute(now)
    values[minute] = value
    values = values.filter { $0.key > minute - Int64(Self.minutes) && $0.key <= minute }
  }

  private static func minute(_ time: Timestamp) -> Int64 { time.milliseconds / 60_000 }

  var sum: Int { values.values.reduce(0, +) }

  /// Divides the hour into `count` parts, oldest first. Each part contains the largest value of its minutes, or `nil`
  /// if none of the minutes has a value.
  func parts(_ count: Int, at now: Timestamp) -> [Int?] {
    let last = Self.minute(now)
    return (0..<count).map { part in
      let minutes = (part * Self.minutes / count)..<((part + 1) * Self.minutes / count)
      return minutes.compactMap { values[last - Int64(Self.minutes - 1 - $0)] }.max()
    }
  }

  /// Returns a row of small bars that represent numbers. The largest number has the tallest bar, and `nil` is left
  /// blank. `hasBlocks` is whether to use Unicode block characters instead of ASCII.
  static func sparkline(_ values: [Int?], hasBlocks: Bool) -> String {
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

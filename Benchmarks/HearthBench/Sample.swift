/// Repeated measurements of one duration.
struct Sample {
  private var durations: [Duration] = []

  mutating func add(_ duration: Duration) { durations.append(duration) }

  /// The median duration.
  var median: Duration { durations.sorted()[durations.count / 2] }

  /// Runs `body` and adds its duration.
  mutating func time<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let start = ContinuousClock.now
    let result = try await body()
    add(ContinuousClock.now - start)
    return result
  }
}

/// A table with lines of figures in columns.
enum Table {
  static func line(_ cells: String...) -> String {
    cells.enumerated().map { index, cell in
      let blanks = String(repeating: " ", count: max((index == 0 ? 38 : 12) - cell.count, 0))
      return index == 0 ? cell + blanks : blanks + cell
    }.joined()
  }

  static func microseconds(_ duration: Duration) -> String { "\(Int(duration / .microseconds(1))) us" }
  static func milliseconds(_ duration: Duration) -> String { decimal(duration / .milliseconds(1)) + " ms" }
  /// The number of such durations per second.
  static func rate(_ duration: Duration) -> String { "\(Int(.seconds(1) / duration))" }
  static func ratio(_ part: Duration, to whole: Duration) -> String { decimal(part / whole) }

  static func decimal(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)"
  }
}

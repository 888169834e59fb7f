extension [String] {
  /// Returns " Did you mean …?" with the word closest to `word`, or an empty string if no word is close enough.
  package func suggestion(for word: String) -> String {
    let nearest = map { ($0, distance($0, word)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = nearest, distance <= Swift.max(1, Swift.min(name.count, word.count) / 3) else {
      return ""
    }
    return " Did you mean \"\(name)\"?"
  }

  /// Returns the edit distance between two words. Swapping two adjacent letters counts as one edit (optimal string
  /// alignment).
  private func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array<Character>(one), Array<Character>(other.prefix(64)))
    var (before, last) = ([Int](), [Int](0...other.count))
    for (row, letter) in one.enumerated() {
      var line = [row + 1]
      for (column, otherLetter) in other.enumerated() {
        var least = Swift.min(line[column], last[column + 1]) + 1
        least = Swift.min(least, last[column] + (letter == otherLetter ? 0 : 1))
        if row > 0, column > 0, letter == other[column - 1], one[row - 1] == otherLetter {
          least = Swift.min(least, before[column - 1] + 1)
        }
        line.append(least)
      }
      (before, last) = (last, line)
    }
    return last[other.count]
  }
}

import HearthCore

extension Timestamp {
  /// Parses an HTTP date in any of its three formats (RFC 9110, section 5.6.7), or returns `nil`.
  ///
  /// A two-digit year is interpreted as at most 50 years after `now`.
  init?(httpDate text: String, near now: Timestamp) {
    let words = text.utf8.split { " ,-".utf8.contains($0) }.map(Substring.init)
    let date: (day: Substring, month: Substring, year: Substring, time: Substring)
    if words.count == 6, words[5] == "GMT" {
      date = (words[1], words[2], words[3], words[4])
    } else if words.count == 5 {
      date = (words[2], words[1], words[4], words[3])
    } else {
      return nil
    }
    let time = date.time.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { Self.number(Substring($0), digits: 2...2) }
    guard let day = Self.number(date.day, digits: 1...2), let month = Self.months.firstIndex(of: date.month),
      let year = Self.number(date.year, digits: 2...4), date.year.utf8.count != 3,
      time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      let timestamp = Timestamp.utc(
        year: date.year.utf8.count == 2 ? Self.wholeYear(of: year, near: now) : year, month: Int64(month) + 1,
        day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    self = timestamp
  }

  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int64? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int64(text)
  }

  private static func wholeYear(of digits: Int64, near now: Timestamp) -> Int64 {
    let thisYear = Int64(now.description.prefix(4)) ?? 2000
    let year = thisYear / 100 * 100 + digits
    return year > thisYear + 50 ? year - 100 : year
  }
}

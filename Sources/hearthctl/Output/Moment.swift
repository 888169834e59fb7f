import Glibc

/// A time on the wall clock, in whole seconds since 1970, as a person wants to hear of it.
struct Moment: Hashable {
  let seconds: Int

  init(seconds: Int) {
    self.seconds = seconds
  }

  static var now: Moment { Moment(seconds: time(nil)) }

  /// Reads what the daemon writes: RFC 3339 in UTC, with or without a fraction, which is dropped.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[4] == UInt8(ascii: "-"),
      bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
      bytes[16] == UInt8(ascii: ":")
    else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      guard bytes[range].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
      return Int(String(decoding: bytes[range], as: UTF8.self))
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19)
    else { return nil }
    var parts = tm()
    parts.tm_year = Int32(year - 1900)
    parts.tm_mon = Int32(month - 1)
    parts.tm_mday = Int32(day)
    parts.tm_hour = Int32(hour)
    parts.tm_min = Int32(minute)
    parts.tm_sec = Int32(second)
    seconds = timegm(&parts)
  }

  /// `12 min ago`, `in 5 s`, `now`.
  func relative(to now: Moment) -> String {
    let distance = seconds - now.seconds
    if distance == 0 { return "now" }
    return distance > 0 ? "in \(Self.span(distance))" : "\(Self.span(-distance)) ago"
  }

  /// `42 s`, `51 min`, `2 h 5 min`, `3 d 4 h`: the two largest units, so that it can be read at a glance.
  static func span(_ seconds: Int) -> String {
    func pair(_ whole: Int, _ unit: String, _ rest: Int, _ restUnit: String) -> String {
      rest == 0 ? "\(whole) \(unit)" : "\(whole) \(unit) \(rest) \(restUnit)"
    }
    switch seconds {
    case ..<60: return "\(max(seconds, 0)) s"
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
    default: return pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
    }
  }
}

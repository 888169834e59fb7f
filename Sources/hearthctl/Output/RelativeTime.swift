import Glibc
import HearthCore

/// Times and durations in the form in which people like to read them, in whole seconds.
extension Timestamp {
  static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

  /// `14:03:09`, in local time.
  var timeOfDay: String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// The time from `other` to this; negative if this is earlier. Fractions of seconds are dropped from both.
  func since(_ other: Timestamp) -> Duration {
    .seconds(milliseconds / 1000 - other.milliseconds / 1000)
  }

  /// `12 min ago`, `in 5 s`, `now`.
  func relative(to now: Timestamp) -> String {
    let distance = since(now)
    if distance == .zero { return "now" }
    return distance > .zero ? "in \(distance.span)" : "\((.zero - distance).span) ago"
  }
}

extension Duration {
  /// `42 s`, `51 min`, `2 h 5 min`, `3 d 4 h`: the two largest units, so that it is quick to read.
  var span: String {
    func pair(_ whole: Int64, _ unit: String, _ rest: Int64, _ restUnit: String) -> String {
      rest == 0 ? "\(whole) \(unit)" : "\(whole) \(unit) \(rest) \(restUnit)"
    }
    let seconds = components.seconds
    switch seconds {
    case ..<60: return "\(max(seconds, 0)) s"
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
    default: return pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
    }
  }
}

import Glibc
import HearthCore

/// Formats times and durations for people, in whole seconds.
extension Timestamp {
  static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

  /// The local time in the format `14:03:09`.
  var timeOfDay: String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// Returns the time since `other`. The result is negative if `other` is later. Both times are truncated to whole
  /// seconds first.
  func since(_ other: Timestamp) -> Duration {
    .seconds(milliseconds / 1000 - other.milliseconds / 1000)
  }

  /// Formats a time relative to `now`, such as `12 min ago` or `in 5 s`.
  func relative(to now: Timestamp) -> String {
    let distance = since(now)
    if distance == .zero { return "now" }
    return distance > .zero ? "in \(distance.span)" : "\((.zero - distance).span) ago"
  }
}

extension Duration {
  /// The duration in its largest one or two units, such as `42 s`, `2 h 5 min` or `3 d 4 h`.
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

import HearthCore

extension HearthClient {
  /// A point in time with millisecond precision. The description follows RFC 3339. To convert it with Foundation, use
  /// `Date(timeIntervalSince1970: Double(time.millisecondsSince1970) / 1000)`.
  public struct Time: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let millisecondsSince1970: Int64

    init(_ time: Timestamp) { millisecondsSince1970 = time.milliseconds }

    public var description: String { Timestamp(milliseconds: millisecondsSince1970).description }

    public static func < (lhs: Time, rhs: Time) -> Bool { lhs.millisecondsSince1970 < rhs.millisecondsSince1970 }
  }
}

/// A point on the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package init(seconds: Int64) {
    self.init(milliseconds: seconds.multipliedReportingOverflow(by: 1000).partialValue)
  }

  /// The latest time that RFC 3339 can represent: 9999-12-31T23:59:59.999Z.
  package static let distantFuture = Timestamp(milliseconds: 253_402_300_799_999)

  package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.milliseconds < rhs.milliseconds }

  /// Adds a duration, rounded towards zero to milliseconds. The result is clamped to the years 1970 to 9999.
  package static func + (lhs: Timestamp, rhs: Duration) -> Timestamp {
    let (sum, overflow) = lhs.milliseconds.addingReportingOverflow(rhs.wholeMilliseconds)
    guard !overflow, sum <= distantFuture.milliseconds else {
      return rhs < .zero ? Timestamp(milliseconds: 0) : distantFuture
    }
    return Timestamp(milliseconds: Swift.max(sum, 0))
  }

  package static func - (lhs: Timestamp, rhs: Duration) -> Timestamp { lhs + (.zero - rhs) }

  /// Returns the time from `rhs` to `lhs`, which is negative if `lhs` is earlier. Saturates at the limits of `Int64`.
  package static func - (lhs: Timestamp, rhs: Timestamp) -> Duration {
    let (difference, overflow) = lhs.milliseconds.subtractingReportingOverflow(rhs.milliseconds)
    return .milliseconds(overflow ? (lhs < rhs ? .min : .max) : difference)
  }

  /// The time in RFC 3339 format, in UTC, such as `2026-11-21T10:00:00.000Z`. Clamped to the years 0 to 9999.
  package var description: String {
    let (days, rest) = min(max(self, .earliest), .distantFuture).milliseconds.quotientFlooring(by: 86_400_000)
    let (year, month, day) = Timestamp.civil(fromDays: days)
    return String(unsafeUninitializedCapacity: 24) { text in
      var end = 0
      func write(_ number: Int64, _ width: Int, _ separator: Unicode.Scalar) {
        var number = number
        for index in (end..<end + width).reversed() {
          text[index] = UInt8(ascii: "0") + UInt8(number % 10)
          number /= 10
        }
        text[end + width] = UInt8(ascii: separator)
        end += width + 1
      }
      write(year, 4, "-")
      write(month, 2, "-")
      write(day, 2, "T")
      write(rest / 3_600_000, 2, ":")
      write(rest / 60_000 % 60, 2, ":")
      write(rest / 1000 % 60, 2, ".")
      write(rest % 1000, 3, "Z")
      return end
    }
  }

  /// Parses an RFC 3339 date-time with any offset and fraction (section 5.6). Returns `nil` if the text is invalid.
  package init?(rfc3339 text: String) {
    var reader = DigitReader(text)
    guard let year = reader.digits(4), reader.skip("-"), let month = reader.digits(2), reader.skip("-"),
      let day = reader.digits(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
      let hour = reader.digits(2), reader.skip(":"), let minute = reader.digits(2), reader.skip(":"),
      let second = reader.digits(2)
    else { return nil }
    let fraction = reader.skip(".") ? reader.fractionInMilliseconds() : 0
    guard let fraction, let offset = reader.offsetInMinutes(), reader.isAtEnd,
      let timestamp = Timestamp.utc(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    self.init(milliseconds: timestamp.milliseconds + fraction - offset * 60_000)
    // The offset can move the time out of the four-digit years.
    guard Self.earliest <= self, self <= .distantFuture else { return nil }
  }

  /// Returns the time with these parts in UTC, or `nil` if a part is out of range. A leap second counts as the second
  /// before it.
  package static func utc(
    year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64
  ) -> Timestamp? {
    guard (1...12).contains(month), day >= 1, hour < 24, minute < 60, second <= 60 else { return nil }
    let days = Timestamp.days(year: year, month: month, day: day)
    guard Timestamp.civil(fromDays: days) == (year, month, day) else { return nil }
    return Timestamp(seconds: ((days * 24 + hour) * 60 + minute) * 60 + Swift.min(second, 59))
  }

  /// Returns the number of days since 1970-01-01 in the proleptic Gregorian calendar, calculated in 400-year eras that
  /// start in March.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientFlooring(by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The earliest time that RFC 3339 can represent: 0000-01-01T00:00:00.000Z.
  private static let earliest = Timestamp(milliseconds: -62_167_219_200_000)

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).quotientFlooring(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}

extension Duration {
  /// The duration in milliseconds, rounded towards zero. Saturates at the limits of `Int64`.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }

  /// The number of seconds, rounded up, and at least 1.
  package var roundedUpSeconds: Int { Swift.max(Int((wholeMilliseconds + 999) / 1000), 1) }
}

extension Int64 {
  fileprivate func quotientFlooring(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

/// Parses fixed-width numbers from the front of a string.
private struct DigitReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func digits(_ count: Int) -> Int64? {
    var number: Int64 = 0
    for _ in 0..<count {
      guard let digit = nextDigit() else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  mutating func fractionInMilliseconds() -> Int64? {
    guard var number = nextDigit() else { return nil }
    var count = 1
    while let digit = nextDigit() {
      if count < 3 { number = number * 10 + digit }
      count += 1
    }
    while count < 3 {
      number *= 10
      count += 1
    }
    return number
  }

  mutating func offsetInMinutes() -> Int64? {
    if skip("Z") || skip("z") { return 0 }
    let sign: Int64
    if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
    guard let hours = digits(2), hours < 24, skip(":"), let minutes = digits(2), minutes < 60 else { return nil }
    return sign * (hours * 60 + minutes)
  }

  private mutating func nextDigit() -> Int64? {
    guard let byte = rest.first, byte.isASCIIDigit else { return nil }
    rest.removeFirst()
    return Int64(byte - UInt8(ascii: "0"))
  }
}

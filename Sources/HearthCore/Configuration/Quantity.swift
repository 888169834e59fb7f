/// Numbers with a unit, as the configuration writes durations and sizes.
package enum Quantity {
  /// Reads `500ms`, `30s`, `5m`, `6h` and `7d`; nil where a text is none of these or longer than a hundred years.
  package static func duration(from text: String) -> Duration? {
    let units: [(suffix: String, milliseconds: Int64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    let hundredYears: Int64 = 36_525 * 86_400_000
    return product(of: text, units: units, limit: hundredYears).map { .milliseconds($0) }
  }

  /// Reads `64KiB`, `1MiB` and `1GiB` as bytes; nil where a text is none of these or more than 2^50.
  package static func byteCount(from text: String) -> Int? {
    product(of: text, units: [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)], limit: 1 << 50).map { Int($0) }
  }

  private static func product(of text: String, units: [(suffix: String, Int64)], limit: Int64) -> Int64? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    let suffix = text[digits.endIndex...]
    guard let unit = units.first(where: { $0.suffix == suffix }), let number = Int64(digits) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit.1)
    return overflow || product > limit ? nil : product
  }
}

/// Identifiers of outbox items. They sort by the time at which they were made.
package enum ItemID {
  /// A UUID of version 7 (RFC 9562, section 5.7) from 74 of the given random bits.
  package static func make(at time: Timestamp, random: (UInt64, UInt64)) -> String {
    let high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | random.0 & 0x0FFF
    let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
    let digits = hex(high) + hex(low)
    return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-\(digits.dropFirst(12).prefix(4))"
      + "-\(digits.dropFirst(16).prefix(4))-\(digits.dropFirst(20))"
  }

  /// Whether a text has the form of such an identifier. It may be sent as a key.
  package static func isValid(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && text.utf8.allSatisfy { byte in "0123456789abcdef-".utf8.contains(byte) }
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The name of an account: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, so that it is safe in paths and on command lines.
package struct AccountName: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let description: String

  /// Nil where `text` is no such name.
  package init?(_ text: String) {
    func isLetterOrDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= 64,
      text.utf8.allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
    else { return nil }
    description = text
  }

  package static func < (lhs: AccountName, rhs: AccountName) -> Bool {
    lhs.description < rhs.description
  }
}

/// The name of an account. It matches `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, so it is safe in paths and on command lines.
package struct AccountName: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let description: String

  package init?(_ text: String) {
    guard let first = text.utf8.first, first.isASCIILetter || first.isASCIIDigit, text.utf8.count <= 64,
      text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "_-".utf8.contains($0) })
    else { return nil }
    description = text
  }

  package static func < (lhs: AccountName, rhs: AccountName) -> Bool { lhs.description < rhs.description }
}

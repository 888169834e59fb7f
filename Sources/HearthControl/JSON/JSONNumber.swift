/// A JSON number (RFC 8259, section 6) in the text it was written in.
package struct JSONNumber: Hashable, Sendable {
  package let text: String

  /// `text` has been read by the parser and is a number.
  init(parsed text: String) {
    self.text = text
  }

  package init(_ value: Int) {
    text = String(value)
  }

  /// The shortest text that stands for it; nil for an infinity and for what is no number, which JSON does not have.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    text = Int(exactly: value).map(String.init) ?? "\(value)"
  }

  /// The nearest number that there is.
  package var double: Double? { Double(text) }

  /// The number where it is a whole one (`1e3` and `2.0` are) that fits.
  package var int: Int? {
    Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
  }
}

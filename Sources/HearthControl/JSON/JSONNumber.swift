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

  /// The number where it is a whole one (`1e3` and `2.0` are) that fits.
  package var int: Int? {
    Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
  }
}

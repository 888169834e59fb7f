/// An identifier, such as a lane, a key or a path. Names are equal if their UTF-8 is equal, as in SQLite, PostgreSQL,
/// file systems and providers. In contrast, Swift's `String` treats canonically equivalent strings as equal, such as
/// "é" in one or two scalars, or K and the Kelvin sign.
package struct Name: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  package let text: String

  package init(_ text: String) { self.text = text }

  package init(stringLiteral text: String) { self.text = text }

  package var description: String { text }

  package static func == (one: Name, other: Name) -> Bool { one.text.hasSameBytes(as: other.text) }

  package static func < (one: Name, other: Name) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // Terminate the name, so that two consecutive names do not hash like one longer name.
    hasher.combine(0xFF as UInt8)
  }
}

extension String {
  /// Returns whether both strings have the same UTF-8. Compares memory, because `utf8.elementsEqual` is several times
  /// slower.
  @inlinable
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame: Bool?? = utf8.withContiguousStorageIfAvailable { own in
      other.utf8.withContiguousStorageIfAvailable { own.elementsEqual($0) }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

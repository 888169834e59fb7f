/// A string that never appears in descriptions, dumps, mirrors or string interpolation.
///
/// Call `reveal()` only where the bytes leave the process, as in a request, a credential file or a response to a
/// client, or where they must be hashed, parsed or searched.
package struct Secret: Hashable, Sendable {
  private let text: String

  package init(_ text: String) { self.text = text }

  package var isEmpty: Bool { text.isEmpty }

  package func reveal() -> String { text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<secret>" }
  package var debugDescription: String { "<secret>" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A text that never prints itself: not in descriptions, dumps, mirrors or string interpolation.
///
/// `reveal()` is called only where the bytes leave the process: in a request to the provider, in the credential file,
/// and in the answer to a client that asked for its token.
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

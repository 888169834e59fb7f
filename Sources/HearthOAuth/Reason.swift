/// Why a step failed or a value cannot be used, as the end of a sentence.
package struct Reason: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Why a configuration, or a place that was named for a file, cannot be used: one sentence for people.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

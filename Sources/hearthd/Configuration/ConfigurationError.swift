/// Why a configuration, or a place that was named for a file, cannot be used: one sentence for people.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

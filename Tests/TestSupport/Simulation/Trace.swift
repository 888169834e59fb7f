/// What happened in a simulation, line by line, for one who replays a seed.
package final class Trace {
  package var lines: [String] = []

  package init() {}
}

/// A rule of a simulation that was broken.
package struct Violation: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

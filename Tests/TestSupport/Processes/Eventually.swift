import Glibc

/// What a test waited for, in vain.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// Waits until `condition` gives a value. With `Torture`, the one place in these tests that lets time pass.
@discardableResult
package func eventually<Value>(
  _ what: String, within limit: Duration = .seconds(20), _ condition: () throws -> Value?
) throws -> Value {
  let start = ContinuousClock.now
  var pause: UInt32 = 2_000
  while true {
    if let value = try condition() { return value }
    if ContinuousClock.now - start > limit {
      throw NeverHappened(description: "It did not happen within \(limit) that \(what).")
    }
    usleep(pause)
    pause = min(pause * 2, 20_000)
  }
}

/// Waits until `condition` holds.
package func eventually(_ what: String, within limit: Duration = .seconds(20), _ condition: () throws -> Bool) throws {
  try eventually(what, within: limit) { try condition() ? true : nil }
}

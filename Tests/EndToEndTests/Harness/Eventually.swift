import Glibc

/// What a test waited for, in vain.
struct NeverHappened: Error, CustomStringConvertible {
  let description: String
}

/// Waits until `condition` gives a value. With `Torture`, the one place in these tests that lets time pass.
@discardableResult
func eventually<Value>(
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
func eventually(_ what: String, within limit: Duration = .seconds(20), _ condition: () throws -> Bool) throws {
  try eventually(what, within: limit) { try condition() ? true : nil }
}

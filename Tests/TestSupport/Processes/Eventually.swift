package import Glibc

/// Something that a test waited for and that never happened.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

extension Duration {
  /// The time that a test waits for something that happens at once on an idle machine. It is the same everywhere, and
  /// no test depends on it.
  package static let generous: Duration = .seconds(30)
}

extension timeval {
  /// The same limit for system calls.
  package static var generous: timeval { timeval(tv_sec: Int(Duration.generous.components.seconds), tv_usec: 0) }
}

/// Waits until `condition` returns a value. Only this function and `Torture` let real time pass in these tests.
///
/// `progress` grows while long work continues. If it has grown at the limit, the limit starts again, at most ten times.
@discardableResult
package func eventually<Value>(
  _ what: String, within limit: Duration = .generous, while progress: () throws -> Int = { 0 },
  _ condition: () throws -> Value?
) throws -> Value {
  var (start, reached) = (ContinuousClock.now, try progress())
  var (looks, limits) = (0, 1)
  var pause: UInt32 = 2_000
  while true {
    if let value = try condition() { return value }
    looks += 1
    // One check may take as long as the limit.
    if looks > 2, ContinuousClock.now - start > limit {
      let now = try progress()
      guard now != reached, limits < 10 else {
        throw NeverHappened(description: "It did not happen within \(limit) that \(what).")
      }
      (start, reached, limits) = (.now, now, limits + 1)
    }
    usleep(pause)
    pause = min(pause * 2, 20_000)
  }
}

/// Waits until `condition` is true.
package func eventually(
  _ what: String, within limit: Duration = .generous, while progress: () throws -> Int = { 0 },
  _ condition: () throws -> Bool
) throws {
  try eventually(what, within: limit, while: progress) { try condition() ? true : nil }
}

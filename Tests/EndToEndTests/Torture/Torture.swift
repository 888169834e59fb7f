import Glibc
import HearthCore

/// How long the tests that crash programs go on, and by which chance.
struct Torture {
  let cycles: Int
  let seed: UInt64
  var random: SeededGenerator

  /// `variable` asks for more cycles than `make test` has time for; `HEARTH_CRASH_SEED` repeats a run's chances.
  init(_ variable: String, cycles: Int) {
    self.cycles = Self.number(variable) ?? cycles
    seed = Self.number("HEARTH_CRASH_SEED") ?? UInt64.random(in: 0...999_999)
    random = SeededGenerator(seed: seed)
  }

  /// Lets up to so many seconds pass.
  mutating func waitAtMost(_ seconds: Double) {
    usleep(UInt32(Double.random(in: 0...seconds, using: &random) * 1_000_000))
  }

  static func isAsked(for variable: String) -> Bool { getenv(variable) != nil }

  private static func number<Number: FixedWidthInteger>(_ variable: String) -> Number? {
    getenv(variable).flatMap { Number(String(cString: $0)) }
  }
}

/// The pauses between attempts to connect. They start at 0.1 seconds and double up to five seconds. Half of each pause
/// is random, so that clients do not all connect at the same moment.
package struct ReconnectPauses {
  private static let first: Duration = .milliseconds(100)
  private static let longest: Duration = .seconds(5)

  private var pause = first

  package init() {}

  /// Returns the next pause. `share` is the fraction of the random half to use, from 0 to 1.
  package mutating func next(share: Double = .random(in: 0...1)) -> Duration {
    defer { pause = min(pause * 2, Self.longest) }
    return pause * (0.5 + share / 2)
  }

  package mutating func reset() { pause = Self.first }
}

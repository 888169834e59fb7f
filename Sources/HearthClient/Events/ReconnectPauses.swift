/// The pauses between attempts to reach a daemon that is away: a tenth of a second at first, then doubled each time, up
/// to five seconds. Half of each pause is random, so that not all clients connect at once.
package struct ReconnectPauses {
  private static let first: Duration = .milliseconds(100)
  private static let longest: Duration = .seconds(5)

  private var pause = first

  package init() {}

  /// The next pause. `share`, from 0 to 1, is how much of the random half to use.
  package mutating func next(share: Double = .random(in: 0...1)) -> Duration {
    defer { pause = min(pause * 2, Self.longest) }
    return pause * (0.5 + share / 2)
  }

  /// Starts over, because the daemon is back.
  package mutating func reset() { pause = Self.first }
}

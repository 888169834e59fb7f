/// How long to wait before each next try to reach a daemon that is away: at first a tenth of a second, then twice as long
/// each time, up to five seconds. Half of each is by chance, so that not all clients come at once.
package struct ReconnectPauses {
  private static let first: Duration = .milliseconds(100)
  private static let longest: Duration = .seconds(5)

  private var pause = first

  package init() {}

  /// `share`: 0 to 1, of the half that is by chance.
  package mutating func next(share: Double = .random(in: 0...1)) -> Duration {
    defer { pause = min(pause * 2, Self.longest) }
    return pause * (0.5 + share / 2)
  }

  /// The daemon is there.
  package mutating func reset() { pause = Self.first }
}

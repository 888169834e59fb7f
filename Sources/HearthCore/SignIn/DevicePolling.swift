/// When to ask the provider the next time whether the person is done (RFC 8628, section 3.5).
package struct DevicePolling: Hashable, Sendable {
  /// `slow_down` adds so much.
  private static let step: Duration = .seconds(5)
  /// No answer doubles the interval, up to so much.
  private static let longest: Duration = .seconds(60)

  package private(set) var interval: Duration
  package private(set) var nextAt: Timestamp

  package init(_ signIn: DeviceSignIn, at now: Timestamp) {
    interval = Swift.max(signIn.interval, .seconds(1))
    nextAt = now + interval
  }

  /// The answer was not the last one.
  package mutating func answered(_ answer: Answer, at now: Timestamp) {
    switch answer {
    case .pending: break
    case .slowDown: interval += Self.step
    case .unanswered: interval = Swift.max(interval, Swift.min(interval * 2, Self.longest))
    }
    nextAt = now + interval
  }

  /// What the provider says before it grants anything.
  package enum Answer: Hashable, Sendable {
    /// `authorization_pending`.
    case pending
    /// `slow_down`.
    case slowDown
    /// The provider could not be asked, or a server error came: why, in a sentence.
    case unanswered(message: String)
  }
}

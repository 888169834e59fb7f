/// A sign-in that the user completes on another device (RFC 8628, section 3.2).
package struct DeviceSignIn: Hashable, Sendable {
  package let deviceCode: Secret
  /// The code for the user to enter.
  package let userCode: String
  package let verificationURI: String
  /// A URL that includes the code, for a QR code, or `nil` if the provider does not send one.
  package let verificationURIComplete: String?
  package let lifetime: Duration
  /// The minimum time between two polls (5 s by default; RFC 8628, section 3.2).
  package let interval: Duration

  package init(
    deviceCode: Secret, userCode: String, verificationURI: String, verificationURIComplete: String?,
    lifetime: Duration, interval: Duration
  ) {
    self.deviceCode = deviceCode
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.lifetime = lifetime
    self.interval = interval
  }
}

/// Decides when to poll the provider again (RFC 8628, section 3.5).
package struct DevicePolling: Hashable, Sendable {
  /// The amount that `slow_down` adds to the interval.
  private static let step: Duration = .seconds(5)
  /// A poll without a response doubles the interval up to this limit. `slow_down` can exceed the limit.
  private static let longest: Duration = .seconds(60)

  package private(set) var interval: Duration
  package private(set) var nextAt: Timestamp

  package init(_ signIn: DeviceSignIn, at now: Timestamp) {
    interval = Swift.max(signIn.interval, .seconds(1))
    nextAt = now + interval
  }

  /// Schedules the next poll after a response without a final result.
  package mutating func answered(_ answer: Answer, at now: Timestamp) {
    switch answer {
    case .pending: break
    case .slowDown: interval += Self.step
    case .unanswered: interval = Swift.max(interval, Swift.min(interval * 2, Self.longest))
    }
    nextAt = now + interval
  }

  mutating func move(by step: Duration) { nextAt = nextAt + step }

  /// A poll result that does not end the sign-in.
  package enum Answer: Hashable, Sendable {
    /// `authorization_pending`
    case pending
    /// `slow_down`
    case slowDown
    /// The poll was not sent, or the provider gave no usable response. The message is a full sentence.
    case unanswered(message: String)
  }
}

/// The provider's answer to a request for a grant.
package enum GrantAnswer: Hashable, Sendable {
  case granted(TokenResponse)
  /// The user has not finished, or the provider does not respond, so the provider must be polled again.
  case notYet(DevicePolling.Answer)
}

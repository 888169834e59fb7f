/// A sign-in on another device (RFC 8628, section 3.2).
package struct DeviceSignIn: Hashable, Sendable {
  package let deviceCode: Secret
  /// The code that the user types in.
  package let userCode: String
  package let verificationURI: String
  /// The URL with the code in it, for a QR code. `nil` if the provider gives none.
  package let verificationURIComplete: String?
  /// How long the code is valid.
  package let lifetime: Duration
  /// The minimum time between two polls: 5 s if the provider gives none (RFC 8628, section 3.2).
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

/// Decides when to ask the provider next whether the user has finished (RFC 8628, section 3.5).
package struct DevicePolling: Hashable, Sendable {
  /// `slow_down` adds this much to the interval.
  private static let step: Duration = .seconds(5)
  /// A missing answer doubles the interval, up to this limit.
  private static let longest: Duration = .seconds(60)

  package private(set) var interval: Duration
  package private(set) var nextAt: Timestamp

  package init(_ signIn: DeviceSignIn, at now: Timestamp) {
    interval = Swift.max(signIn.interval, .seconds(1))
    nextAt = now + interval
  }

  /// Called when the provider has answered without a final result.
  package mutating func answered(_ answer: Answer, at now: Timestamp) {
    switch answer {
    case .pending: break
    case .slowDown: interval += Self.step
    case .unanswered: interval = Swift.max(interval, Swift.min(interval * 2, Self.longest))
    }
    nextAt = now + interval
  }

  /// The provider's answer before it grants anything.
  package enum Answer: Hashable, Sendable {
    /// `authorization_pending`
    case pending
    /// `slow_down`
    case slowDown
    /// The provider could not be asked, or a server error came. The message is a sentence.
    case unanswered(message: String)
  }
}

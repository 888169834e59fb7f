/// The reason why a session has ended. The raw value is the `reason` in the status.
package enum EndReason: String, Hashable, Sendable, CaseIterable {
  case signedOut
  case refreshTokenRejected, refreshTokenExpired, noRefreshToken, rejectedByServer, accountDisabled
  case credentialMissing, credentialCorrupt, credentialTooNew

  /// Whether the session ended because of its file. If so, the provider has not rejected the grant, so Hearth uses the
  /// grant again if it reappears.
  package var isAboutFile: Bool {
    switch self {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: true
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer,
      .accountDisabled:
      false
    }
  }
}

/// The end of a session. Except for `credentialTooNew`, it is saved before it is published, so that it survives
/// restarts.
package struct EndRecord: Hashable, Sendable {
  package let reason: EndReason
  package let at: Timestamp
  /// The fingerprint of the token that was rejected or has expired, or `nil` if the session ended for another reason.
  package let fingerprint: Fingerprint?
  /// A sentence with more details than `reason`, or `nil` if there are no more details.
  package let detail: String?

  package init(reason: EndReason, at: Timestamp, fingerprint: Fingerprint?, detail: String? = nil) {
    (self.reason, self.at, self.fingerprint, self.detail) = (reason, at, fingerprint, detail)
  }

  /// Returns the end that applies: the later one of this end and `found`, the end in the file. If this end is a
  /// sign-out, it applies regardless of the clock.
  package func prevailing(over found: EndRecord) -> EndRecord {
    reason == .signedOut || at >= found.at ? self : found
  }
}

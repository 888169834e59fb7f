/// Why a session is over. The raw value is the `reason` in the status.
package enum EndReason: String, Hashable, Sendable, CaseIterable {
  case signedOut
  case refreshTokenRejected, refreshTokenExpired, noRefreshToken, rejectedByServer, accountDisabled
  case credentialMissing, credentialCorrupt, credentialTooNew

  /// Whether the end is about the file. The provider did not reject the grant, so it is used again if it is found.
  package var isAboutFile: Bool {
    switch self {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: true
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer,
      .accountDisabled:
      false
    }
  }
}

/// The end of a session. It is written before it is published, so that it survives restarts.
package struct EndRecord: Hashable, Sendable {
  package let reason: EndReason
  package let at: Timestamp
  /// The fingerprint of the rejected token, if there was one.
  package let fingerprint: Fingerprint?
  /// A sentence for people, if more is known than the reason.
  package let detail: String?

  package init(reason: EndReason, at: Timestamp, fingerprint: Fingerprint?, detail: String? = nil) {
    (self.reason, self.at, self.fingerprint, self.detail) = (reason, at, fingerprint, detail)
  }

  /// Decides between this end, which is on record, and the one in the file. A sign-out by the user counts in any case,
  /// whatever the clock showed; otherwise the later end counts.
  package func prevailing(over found: EndRecord) -> EndRecord {
    reason == .signedOut || at >= found.at ? self : found
  }
}

/// Why a session is over. The raw value is the `reason` of the status.
package enum EndReason: String, Hashable, Sendable, CaseIterable {
  case signedOut
  case refreshTokenRejected, refreshTokenExpired, noRefreshToken, rejectedByServer, accountDisabled
  case credentialMissing, credentialCorrupt, credentialTooNew

  /// The grant itself was not refused: it is welcome when it is found again.
  package var isAboutFile: Bool {
    switch self {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: true
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer,
      .accountDisabled:
      false
    }
  }
}

/// That a session ended: written down before it is told, so that it survives restarts.
package struct EndRecord: Hashable, Sendable {
  package let reason: EndReason
  package let at: Timestamp
  /// Of the token that was refused, where there was one.
  package let fingerprint: Fingerprint?
  /// A sentence for people, where more is known than the reason.
  package let detail: String?

  package init(reason: EndReason, at: Timestamp, fingerprint: Fingerprint?, detail: String? = nil) {
    self.detail = detail
    self.reason = reason
    self.at = at
    self.fingerprint = fingerprint
  }
}

/// Why a session is over. The raw value is the `reason` of the status.
package enum EndReason: String, Hashable, Sendable, CaseIterable {
  case signedOut
  case refreshTokenRejected, refreshTokenExpired, noRefreshToken, rejectedByServer, accountDisabled
  case credentialMissing, credentialCorrupt, credentialTooNew
}

/// That a session ended: written down before it is told, so that it survives restarts.
package struct EndRecord: Hashable, Sendable {
  package let reason: EndReason
  package let at: Timestamp
  /// Of the token that was refused, where there was one.
  package let fingerprint: Fingerprint?

  package init(reason: EndReason, at: Timestamp, fingerprint: Fingerprint?) {
    self.reason = reason
    self.at = at
    self.fingerprint = fingerprint
  }
}

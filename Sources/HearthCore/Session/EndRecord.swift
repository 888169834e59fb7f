/// Why a session is over. The raw value is the `reason` of the status.
package enum EndReason: String, Hashable, Sendable, CaseIterable {
  case signedOut
  case refreshTokenRejected, refreshTokenExpired, noRefreshToken, rejectedByServer, accountDisabled
  case credentialMissing, credentialCorrupt, credentialTooNew

  /// The provider did not reject the grant: it is used again when it is found.
  package var isAboutFile: Bool {
    switch self {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: true
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer,
      .accountDisabled:
      false
    }
  }
}

/// The end of a session. It is written down before it is published, so that it survives restarts.
package struct EndRecord: Hashable, Sendable {
  package let reason: EndReason
  package let at: Timestamp
  /// The fingerprint of the token that was rejected, where there was one.
  package let fingerprint: Fingerprint?
  /// A sentence for people, where more is known than the reason.
  package let detail: String?

  package init(reason: EndReason, at: Timestamp, fingerprint: Fingerprint?, detail: String? = nil) {
    self.reason = reason
    self.at = at
    self.fingerprint = fingerprint
    self.detail = detail
  }
}

/// A sign-in that goes on on another device (RFC 8628, section 3.2).
package struct DeviceSignIn: Hashable, Sendable {
  package let deviceCode: Secret
  /// What the person types in.
  package let userCode: String
  package let verificationURI: String
  /// With the code in it, for a QR code; nil where the provider names none.
  package let verificationURIComplete: String?
  /// How long the code counts.
  package let lifetime: Duration
  /// The least time between two polls; 5 s where the provider names none (RFC 8628, section 3.2).
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

/// A sign-in under way, as clients see it.
package struct SignInProgress: Hashable, Sendable {
  package let flow: SignInFlow
  /// It is given up then.
  package let expiresAt: Timestamp

  package init(flow: SignInFlow, expiresAt: Timestamp) {
    self.flow = flow
    self.expiresAt = expiresAt
  }
}

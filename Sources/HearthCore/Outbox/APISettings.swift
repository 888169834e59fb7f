/// What the configuration of an account says of its APIs.
package struct APISettings: Hashable, Sendable {
  /// Where the account's requests may go.
  package var origins: Set<Origin>
  /// For requests that say nothing themselves.
  package var expect: ExpectedContent?
  package var overrides: DeliveryOverrides

  package init(
    origins: Set<Origin>, expect: ExpectedContent? = nil, overrides: DeliveryOverrides = DeliveryOverrides()
  ) {
    self.origins = origins
    self.expect = expect
    self.overrides = overrides
  }
}

/// What the configuration of an account says of its APIs.
package struct APISettings: Hashable, Sendable {
  /// Where the account's requests may go.
  package var origins: Set<Origin>
  /// The mail servers to which other programs may bring the account's token. Hearth sends nothing there.
  package var mailOrigins: Set<Origin>
  /// For requests that say nothing themselves.
  package var expect: ExpectedContent?
  package var overrides: DeliveryOverrides

  /// `origins`: those of mail servers may be among them.
  package init(
    origins: Set<Origin>, expect: ExpectedContent? = nil, overrides: DeliveryOverrides = DeliveryOverrides()
  ) {
    self.origins = origins.filter { !$0.isOfMail }
    mailOrigins = origins.filter(\.isOfMail)
    self.expect = expect
    self.overrides = overrides
  }

  /// All that may be given the account's token.
  package var allOrigins: Set<Origin> { origins.union(mailOrigins) }
}

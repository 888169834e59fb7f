/// What the configuration of an account says about its APIs.
package struct APISettings: Hashable, Sendable {
  /// The origins that the account's requests may go to.
  package var origins: Set<Origin>
  /// The mail servers to which other programs may send the account's token. Hearth itself sends nothing there.
  package var mailOrigins: Set<Origin>
  /// The content that is expected of requests that do not say so themselves.
  package var expect: ExpectedContent?
  package var overrides: DeliveryOverrides

  /// `origins` may include mail servers.
  package init(
    origins: Set<Origin>, expect: ExpectedContent? = nil, overrides: DeliveryOverrides = DeliveryOverrides()
  ) {
    self.origins = origins.filter { !$0.isOfMail }
    mailOrigins = origins.filter(\.isOfMail)
    self.expect = expect
    self.overrides = overrides
  }

  /// Every origin that may receive the account's token.
  package var allOrigins: Set<Origin> { origins.union(mailOrigins) }
}

/// The content that a successful response must have. A success with other content does not count as a delivery.
package enum ExpectedContent: String, Hashable, Sendable, CaseIterable {
  /// Anything but HTML, since many APIs answer a write with an empty body.
  case json
}

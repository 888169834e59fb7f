package struct APISettings: Hashable, Sendable {
  /// The origins that Hearth may send the account's requests to.
  package var origins: Set<Origin>
  /// The mail servers that other programs may send the account's token to. Hearth itself never connects to them.
  package var mailOrigins: Set<Origin>
  /// The content that every 2xx response must have, or `nil` if each request decides for itself.
  package var expect: ExpectedContent?
  package var overrides: DeliveryOverrides

  /// Splits `origins` into APIs and mail servers.
  package init(
    origins: Set<Origin>, expect: ExpectedContent? = nil, overrides: DeliveryOverrides = DeliveryOverrides()
  ) {
    self.origins = origins.filter { !$0.isOfMail }
    mailOrigins = origins.filter(\.isOfMail)
    self.expect = expect
    self.overrides = overrides
  }

  package var allOrigins: Set<Origin> { origins.union(mailOrigins) }
}

/// The content that a 2xx response must have to count as successful.
package enum ExpectedContent: String, Hashable, Sendable, CaseIterable {
  /// Any content except HTML. An empty body is also valid, because many APIs respond to a write without a body.
  case json
}

/// What a successful response of an API has as its content. Another success is no delivery.
package enum ExpectedContent: String, Hashable, Sendable, CaseIterable {
  /// Anything but HTML: many APIs answer a write with nothing.
  case json
}

/// What keeps a credential that exists, or may exist, from being read or written now. It never means that it is gone.
package struct AccessFailure: Hashable, Sendable, Error {
  /// The raw value is the `reason` of the status.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case passphraseRequired, keyUnavailable, permissionDenied, volumeUnavailable, storageError
  }

  package let kind: Kind
  /// For people: the place and what the system said, without secrets.
  package let detail: String

  package init(_ kind: Kind, detail: String) {
    self.kind = kind
    self.detail = detail
  }
}

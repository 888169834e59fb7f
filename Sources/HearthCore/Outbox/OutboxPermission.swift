/// Whether an account's session permits sending its items.
package enum OutboxPermission: Hashable, Sendable {
  /// The reason of a session that its user has ended.
  package static let signedOut = "signedOut"

  /// Items of this subject may be sent; nil where it is the one who is known already.
  case sendable(under: Subject?)
  /// No item may be sent. The reason is shown as `pausedReason`: `locked`, `signedOut`, `reauthRequired`, `hydrating` …
  case blocked(reason: String)
}

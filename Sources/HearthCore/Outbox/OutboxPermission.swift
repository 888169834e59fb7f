/// Whether an account's session permits sending its items.
package enum OutboxPermission: Hashable, Sendable {
  /// Items of this subject may be sent; nil where the provider names none.
  case sendable(under: Subject?)
  /// No item may be sent. The reason is shown as `pausedReason`: `locked`, `signedOut`, `reauthRequired`, `hydrating` …
  case blocked(reason: String)
}

/// An account's sending is paused for another reason than before.
package struct OutboxPauseChange: Hashable, Sendable {
  package enum Event: Hashable, Sendable {
    /// Why sending is paused, or why it was.
    case paused(String), resumed(String)
  }

  package let account: AccountName
  /// As it is shown; nil where sending goes on.
  package let reason: String?
  /// It is nil where it is only shown.
  package var event: Event?
}

/// What is done when a session has ended and somebody has to sign in again: the value of the key `on_reauth`.
package enum ReauthPrompt: String, CaseIterable, Sendable {
  /// The status says so, and nobody is disturbed.
  case none
  /// The person's browser is opened to sign in.
  case browser

  /// Whether the browser is opened after this event: once for each end, since only a session that was in use ends. One
  /// that had ended before this process began, or that ended while it was locked, waits for its person.
  package func opensBrowser(after event: SessionEvent) -> Bool {
    switch self {
    case .none: false
    case .browser: if case .changed(from: .authenticated, to: .reauthRequired) = event { true } else { false }
    }
  }
}

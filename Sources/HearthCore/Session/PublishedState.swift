/// The state that was published last, and since when it holds.
struct PublishedState: Hashable, Sendable {
  private(set) var state = SessionState.hydrating
  private(set) var since: Timestamp
  /// It was published that signing in is all that is left to do.
  private var isSignInAdvised = false

  init(at now: Timestamp) { since = now }

  /// The session had ended before this process began: that is its first state, and no change is published.
  mutating func restore(_ end: EndRecord) {
    guard state == .hydrating else { return }
    since = end.at
    state = end.reason == .signedOut ? .unauthenticated(signedOut: true) : .reauthRequired(end.reason)
  }

  mutating func publish(_ new: SessionState, advisesSignIn: Bool, at now: Timestamp) -> [SessionAction] {
    let isNewAdvice = advisesSignIn != isSignInAdvised
    isSignInAdvised = advisesSignIn
    guard new != state else { return isNewAdvice && new == .authenticated ? [.publish(.statusChanged)] : [] }
    let previous = state
    state = new
    since = now
    return [.publish(.changed(from: previous, to: new))]
  }

  mutating func move(by step: Duration) { since = since + step }
}

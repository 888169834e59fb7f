/// Gives the first piece of news on at once, and what comes shortly after it as one, when the time is over: an address,
/// a route and its sibling of the other family come together.
struct HintPace: Hashable, Sendable {
  enum Verdict: Hashable, Sendable {
    case hint
    /// Ask `due` then.
    case wait(until: Duration)
    /// Somebody has been told to ask.
    case nothing
  }

  static let gap: Duration = .seconds(3)

  private var next: Duration?
  private var isOwed = false

  /// `now`: since any moment that stays the same, on a clock that is not set.
  mutating func news(at now: Duration) -> Verdict {
    if isOwed { return .nothing }
    if let next, now < next {
      isOwed = true
      return .wait(until: next)
    }
    next = now + Self.gap
    return .hint
  }

  /// The time that was waited for has come: a hint is to be given.
  mutating func due(at now: Duration) {
    isOwed = false
    next = now + Self.gap
  }
}

import TestSupport

/// Tries something that must happen before a token expires, with a lifetime that is enough on a fast machine. If the
/// token expired too early, tries again with twice the lifetime. So it tests the order, not the speed of the machine.
///
/// `attempt` gets a lifetime in seconds. It returns whether the token was still valid at the end.
func whileTokenLives(for first: Int, _ attempt: (_ lifetime: Int) throws -> Bool) throws {
  for lifetime in [first, first * 2, first * 4] {
    if try attempt(lifetime) { return }
  }
  throw NeverHappened(description: "A token of \(first * 4) s ended before it was to be used.")
}

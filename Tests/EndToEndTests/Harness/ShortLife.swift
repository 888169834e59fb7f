import TestSupport

/// Tries what has to happen before a token ends with one that lasts long enough on a fast machine, and if it ended
/// earlier, with one that lasts twice as long. So the order is what is tested, and not how fast the machine is.
///
/// `attempt` gets a lifetime in seconds. It tells whether the token still lived at the end.
func whileTokenLives(for first: Int, _ attempt: (_ lifetime: Int) throws -> Bool) throws {
  for lifetime in [first, first * 2, first * 4] {
    if try attempt(lifetime) { return }
  }
  throw NeverHappened(description: "A token of \(first * 4) s ended before it was to be used.")
}

/// The sign-in to which a request or an imported grant belongs, so that what comes back late is recognised.
package struct SessionEpoch: Hashable, Sendable {
  /// Counts sign-ins, sign-outs and other programs' grants; an end begins nothing new.
  package internal(set) var generation = 0
  /// Counts the user's own locks: a sign-in removes those that were set when it began, and no later one.
  var userLocks = 0

  /// The same, but for the user's locks, which count from the earlier epoch on.
  package func since(locksOf earlier: SessionEpoch) -> SessionEpoch {
    SessionEpoch(generation: generation, userLocks: earlier.userLocks)
  }
}

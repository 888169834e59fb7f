/// Which sign-in a request or a person's grant belongs to, so that what comes back late is told apart.
package struct SessionEpoch: Hashable, Sendable {
  /// Counts sign-ins, sign-outs and other programs' grants; an end begins nothing new.
  package internal(set) var generation = 0
  /// Counts the user's own locks: a sign-in takes away those that were there when it began, and no later one.
  var userLocks = 0
}

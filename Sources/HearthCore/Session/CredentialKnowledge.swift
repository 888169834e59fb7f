/// What is known of the credential.
package enum CredentialKnowledge: Hashable, Sendable {
  /// Not read yet, or to be read again.
  case unread
  /// There is one; a lock keeps it out of memory.
  case withheld
  case unreadable(Obstacle)
  case held(HeldGrant)
  /// The end is being written down; until it is, clients see what they saw.
  case ending(EndRecord, shownAs: SessionState)
  case ended(EndRecord)
  case absent(signedOut: Bool)
}

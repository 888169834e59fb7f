/// The newest grant of a session that ended before it could be written, for the session that follows at the same place.
package struct UnwrittenGrant: Hashable, Sendable {
  package let credential: Credential
  /// The older one that lies there.
  let onDisk: GrantMarks?
}

extension SessionMachine {
  /// What would be lost if nobody took it over; nil where all is on disk.
  package var unwritten: UnwrittenGrant? {
    switch credentialState {
    case .adopting(let adoption): return UnwrittenGrant(credential: adoption.credential, onDisk: onDisk)
    case .held(let held):
      if case .storing(let next, _) = held.phase { return UnwrittenGrant(credential: next, onDisk: onDisk) }
      return held.isStored ? nil : UnwrittenGrant(credential: held.credential, onDisk: onDisk)
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: return nil
    }
  }

  /// Holds what the session before could not write, under a lock, too: it is nowhere else, and wiped once it is on disk.
  /// It is newer than any end that is on record: a session that has ended, or was signed out, hands nothing
  /// over.
  mutating func takeOver(_ unwritten: UnwrittenGrant) {
    switch credentialState {
    case .unread, .unreadable, .ended, .absent: break
    case .withheld, .held, .starting, .adopting, .ending: return
    }
    onDisk = unwritten.onDisk
    subject = unwritten.credential.subject ?? subject
    hold(unwritten.credential, isStored: false)
    updateHeld { held, _ in held.isTimedHere = true }
  }
}

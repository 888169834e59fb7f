/// The newest grant of a session that ended before it could be written, for the session that follows at the same place.
package struct UnwrittenGrant: Hashable, Sendable {
  package let credential: Credential
  /// The older one that lies there.
  let onDisk: GrantMarks?
}

extension SessionMachine {
  /// What would be lost if nobody took it over; nil where all is on disk.
  package var unwritten: UnwrittenGrant? {
    switch knowledge {
    case .adopting(let adoption): return UnwrittenGrant(credential: adoption.credential, onDisk: onDisk)
    case .held(let held):
      if case .storing(let next, _) = held.phase { return UnwrittenGrant(credential: next, onDisk: onDisk) }
      return held.isStored ? nil : UnwrittenGrant(credential: held.credential, onDisk: onDisk)
    case .unread, .withheld, .unreadable, .starting, .ending, .ended, .absent: return nil
    }
  }

  /// Holds what the session before could not write. What ended this one meanwhile stays its end, unless that was about
  /// the file alone. A lock does not keep it from being written, and wipes it then.
  mutating func takeOver(_ unwritten: UnwrittenGrant) {
    switch knowledge {
    case .unread: break
    case .ended(let end) where end.reason.isAboutFile: break
    case .withheld, .unreadable, .absent, .held, .starting, .adopting, .ending, .ended: return
    }
    onDisk = unwritten.onDisk
    subject = unwritten.credential.subject ?? subject
    hold(unwritten.credential, isStored: false)
    updateHeld { held, _ in held.isTimedHere = true }
  }
}

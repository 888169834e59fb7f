/// The newest grant of a session that ended before it could be written, for the session that follows at the same place.
package struct UnwrittenGrant: Hashable, Sendable {
  package let credential: Credential
  /// The older one that lies there.
  let onDisk: GrantMarks?
}

extension SessionMachine {
  /// What would be lost if nobody took it over; nil where all is on disk.
  package var unwritten: UnwrittenGrant? {
    guard case .held(let held) = knowledge, !held.isEmpty else { return nil }
    if case .storing(let next) = held.phase { return UnwrittenGrant(credential: next, onDisk: onDisk) }
    return held.isStored ? nil : UnwrittenGrant(credential: held.credential, onDisk: onDisk)
  }

  /// Holds what the session before could not write, under a lock, too: it is nowhere else, and wiped once it is on disk.
  /// What ended this one meanwhile stays its end, unless that was about the file alone.
  mutating func takeOver(_ unwritten: UnwrittenGrant) {
    switch knowledge {
    case .unread, .unreadable: break
    case .ended(let end) where end.reason.isAboutFile: break
    case .withheld, .absent, .held, .ending, .ended: return
    }
    onDisk = unwritten.onDisk
    subject = unwritten.credential.subject ?? subject
    hold(unwritten.credential, isStored: false)
    updateHeld { held, _ in held.isTimedHere = true }
  }
}

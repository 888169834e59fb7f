import TestSupport

@testable import HearthCore

/// What a session plans while it waits.
extension SessionSimulation {
  /// Whether the user or the provider has to do something before the call is answered.
  func awaits(_ id: CallID) -> Bool { machine.isWaiting(id) || awaited.contains { $0.id == id } }

  /// If nothing is under way, something is planned, or nothing is needed.
  func checkPlan(_ wake: Timestamp?) throws(Violation) {
    let wait = wake.map { $0 - now }
    func need(_ limit: Duration, _ what: String) throws(Violation) {
      guard let wait, wait <= limit else {
        throw Violation("\(what), and the next wake is in \(wait.map { "\($0)" } ?? "no time at all")")
      }
    }
    if machine.file.storeChange == .due { throw Violation("the store that is configured is not used") }
    if disk.known.lockedByUser != machine.locks.contains(.user) {
      try need(.seconds(30), "the user's lock is not written down")
    }
    if calls.contains(where: { !machine.isWaiting($0.key) }) {
      try need(settings.refresh.requestTimeout * 2 + .seconds(10), "calls wait")
    }
    if !machine.signIns.isEmpty { try need(.seconds(900), "a sign-in waits for ever") }
    switch machine.credentialState {
    case .notHeld(.unread): throw Violation("nothing is read, and nobody reads")
    case .ending: try need(.seconds(30), "an end is not written")
    case .notHeld(.unreadable): try need(.seconds(30), "the credential is unreadable")
    case .notHeld(.locked):
      if locks.isEmpty { throw Violation("a grant is withheld without a lock") }
    case .ended, .absent: break
    case .adopting: throw Violation("a sign-in is not written, and nobody writes")
    case .starting(isInFlight: true): throw Violation("a grant is asked for, and nobody answers")
    case .starting(isInFlight: false):
      if locks.isEmpty, !isStopping { try need(.seconds(3600), "the client's own grant is to be asked for") }
    case .active(let active):
      if active.phase != .idle { throw Violation("a refresh has neither landed nor failed: \(active.phase)") }
      if !locks.isEmpty, active.isStored { throw Violation("a grant is in memory under a lock") }
      if active.accessFailure != nil || !active.isStored {
        try need(.seconds(30), "the credential is to be read or written")
      }
      guard locks.isEmpty, !isStopping, active.accessFailure == nil, active.isStored, !ledger.isBarred(active.grant),
        let expiresAt = active.grant.expiresAt
      else {
        return
      }
      try need(Swift.max(expiresAt - now + RefreshSettings.leastGap, .seconds(3600)), "a token runs out")
    }
  }
}

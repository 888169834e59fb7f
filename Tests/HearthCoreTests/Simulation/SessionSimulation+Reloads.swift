import TestSupport

@testable import HearthCore

/// A new configuration must not make a session forget anything.
extension SessionSimulation {
  mutating func reload() throws(Violation) {
    var changed = Set(SessionPart.allCases.filter { _ in chances(1, in: 3) })
    if changed.contains(.provider) { changed.insert(.endpoint) }
    if chances(1, in: 2) {
      settings.refresh.margin = .seconds(Int.random(in: 0...600, using: &random))
      settings.locksWhenUnreadable = chances(1, in: 4)
      settings.locks = Set(Lock.allCases.filter { $0 == .user || chances(3, in: 4) })
      locks.formIntersection(settings.locks)
    }
    tally[.reload] += 1
    try deliver(.configured(settings, changed: changed))
  }

  /// Moves the credential elsewhere once the store has finished its work. Its owner has moved the file there, or a
  /// copy, or nothing.
  mutating func replaceStore() {
    let file: SimulatedDisk.File? =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .nothing
      case 1: ledger.own.randomElement(using: &random).map { .grant($0) }
      default: nil
      }
    enqueue(.lock)
    enqueue(.replace(file, isSealed: chances(1, in: 4)))
  }

  /// The actions that follow in the same step are for the new store.
  func checkReplaced() throws(Violation) {
    for job in jobs {
      switch job {
      case .recall, .read, .write, .writeEnd, .remove, .setAside, .remember:
        throw Violation("a store is replaced that has something to do still: \(job)")
      case .makeRoom, .prepare, .note, .lock, .unlock, .replace: break
      }
    }
  }

  func checkConfigured(_ before: SessionMachine) throws(Violation) {
    if !before.credentialState.isEnding, machine.credentialState.isEnding { return }
    let (old, new) = (before.refreshes, machine.refreshes)
    guard old.barred == new.barred, old.apiRejection == new.apiRejection, old.isBarred == new.isBarred,
      old.history.failures == new.history.failures, old.history.trouble?.kind == new.history.trouble?.kind
    else { throw Violation("a reload forgets what came of refreshes") }
    guard machine.locks.all == before.locks.all.intersection(settings.locks), machine.subject == before.subject else {
      throw Violation("a reload forgets a lock, or the user")
    }
    if let held = before.active?.newest, let now = machine.active?.newest, held != now {
      throw Violation("a reload changes the grant in use")
    }
    if let held = before.active?.newestTiming, let now = machine.active?.newestTiming, held != now {
      throw Violation("a reload forgets how long a token has lasted")
    }
    if case .active = before.credentialState, machine.active == nil, before.active?.isStored == false,
      !machine.credentialState.isEnding
    {
      throw Violation("a reload loses a grant that is nowhere else")
    }
  }
}

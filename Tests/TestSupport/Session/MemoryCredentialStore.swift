package import HearthCore
import Synchronization

/// A credential store on a disk in memory. It answers at once, and can be full, sealed, or changed by others.
package final class MemoryCredentialStore: CredentialStore {
  private struct State {
    var disk = SimulatedDisk()
    var memoryFailure: AccessFailure?
    /// Why nothing can be written.
    var writeFailure = AccessFailure.full
    var isMisprotected = false
    var written: [Credential] = []
    var log: [String] = []
    var passphrase: Secret?
    var refusals: [Failure] = []
    var watchers: [AsyncStream<Void>.Continuation] = []

    mutating func progress(_ job: SimulatedDisk.Job) -> SimulatedDisk.Progress {
      var index = 0
      while true {
        let progress = disk.step(job, index)
        guard case .goesOn = progress else { return progress }
        index += 1
      }
    }
  }

  private let state = Mutex(State())

  package init(_ file: SimulatedDisk.File = .nothing) {
    state.withLock { $0.disk.file = file }
  }

  @discardableResult
  private func done(_ job: SimulatedDisk.Job, _ name: String) throws(AccessFailure) -> WriteTurn {
    let result: Result<WriteTurn, AccessFailure> = state.withLock { state in
      state.log.append(name)
      let progress = state.progress(job)
      if case .superseded = progress { return .success(.superseded) }
      guard case .done(let result) = progress else { return .success(.given) }
      if case .write(let credential, _, _) = job, case .success = result { state.written.append(credential) }
      return result.map { .given }.mapError { $0 == .full ? state.writeFailure : $0 }
    }
    return try result.get()
  }

  package func remembered() async throws(AccessFailure) -> RememberedAccount {
    let (remembered, accessFailure) = state.withLock { ($0.disk.remembered, $0.memoryFailure) }
    if let accessFailure { throw accessFailure }
    return remembered
  }

  package func read() async -> CredentialReading {
    state.withLock { state in
      state.log.append("read")
      guard case .read(let reading) = state.progress(.read) else { return .neverSignedIn }
      if state.isMisprotected, case .found(let credential, .current) = reading {
        return .found(credential, .misprotected)
      }
      return reading
    }
  }

  package func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn {
    try done(.prepare(nil, generation: 0, over: version), "prepare")
  }

  package func write(
    _ credential: Credential, over version: StoredVersion
  ) async throws(AccessFailure) -> WriteTurn {
    // Sealing takes time, in which other tasks run.
    if state.withLock(\.isMisprotected) { for _ in 0..<100 { await Task.yield() } }
    let turn = try done(.write(credential, generation: 0, over: version), "write")
    state.withLock { $0.isMisprotected = false }
    return turn
  }

  package func writeEnd(_ record: EndRecord) async throws(EndNotWritten) {
    do throws(AccessFailure) {
      try done(.writeEnd(record), "writeEnd \(record.reason.rawValue)")
    } catch {
      throw disk.notWritten(record, error)
    }
  }

  package func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes _: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials {
    let current = disk.openGrant
    do throws(AccessFailure) { try done(.remove(record, fingerprint), "remove") } catch {
      throw disk.notWritten(record, error)
    }
    return RemovedCredentials(current: current)
  }

  package func setAside() async throws(AccessFailure) -> String {
    try done(.setAside, "setAside")
    return "set-aside"
  }

  package func remember(lockedByUser: Bool) async throws(AccessFailure) {
    try done(.remember(lockedByUser: lockedByUser), "remember \(lockedByUser)")
  }

  package func remember(_ note: TokenNote) async throws(AccessFailure) {
    // Writing takes time, in which other tasks run.
    for _ in 0..<100 { await Task.yield() }
    try done(.note(note), "\(note)")
  }

  package func needsPassphrase() async -> Bool { disk.isSealed && !disk.hasKey }

  @discardableResult
  package func unlock(passphrase: Secret) async throws(Failure) -> Bool {
    try state.withLock { (state) throws(Failure) in
      state.log.append("unlock")
      guard state.disk.isSealed else { return false }
      if !state.refusals.isEmpty { throw state.refusals.removeFirst() }
      guard passphrase == state.passphrase ?? passphrase else { throw .wrongPassphrase(.sample) }
      state.passphrase = passphrase
      state.disk.hasKey = true
      return true
    }
  }

  package func lock() async {
    state.withLock { state in
      state.log.append("lock")
      state.disk.hasKey = false
    }
  }

  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    state.withLock { $0.watchers.append(continuation) }
    return stream
  }

  // MARK: What the test does

  /// Seals the credential with a passphrase whose key is not held. If it is nil, the first passphrase that is entered
  /// counts. `refusing` has the errors of the next attempts.
  package func isSealed(with passphrase: String?, refusing refusals: Failure...) {
    state.withLock { state in
      state.passphrase = passphrase.map { Secret($0) }
      (state.disk.isSealed, state.disk.hasKey) = (true, false)
      state.refusals = refusals
    }
  }

  /// Changes the file like another program, and notifies the watch.
  package func becomes(_ file: SimulatedDisk.File) {
    let watchers = state.withLock { state in
      state.disk.file = file
      return state.watchers
    }
    watchers.forEach { $0.yield() }
  }

  /// Changes the file like another program, before the watch notices.
  package func becomesUnnoticed(_ file: SimulatedDisk.File) { state.withLock { $0.disk.file = file } }

  /// Gives the file another protection than the account wants, until it is written.
  package func isMisprotected() { state.withLock { $0.isMisprotected = true } }

  /// Removes the credential's folder, like an unmount, or restores it.
  package func isAway(_ isAway: Bool) { state.withLock { $0.disk.isAway = isAway } }

  /// Sets the error of reading what the store remembers of the account; nil for none.
  package func cannotRemember(_ accessFailure: AccessFailure?) { state.withLock { $0.memoryFailure = accessFailure } }

  /// Sets the error of every write; nil for none.
  package func cannotBeWritten(_ accessFailure: AccessFailure?) {
    state.withLock { state in
      state.disk.isFull = accessFailure != nil
      state.writeFailure = accessFailure ?? .full
    }
  }

  /// Changes the clock by which grants get their times.
  package func moment(_ change: (inout SimulatedDisk.Moment?) -> Void) { state.withLock { change(&$0.disk.moment) } }

  package var disk: SimulatedDisk { state.withLock(\.disk) }
  package var written: [Credential] { state.withLock(\.written) }
  package var log: [String] { state.withLock(\.log) }
  package var memory: RememberedAccount { disk.remembered }
}

package import HearthCore
import Synchronization

/// A credential store in memory that can be unreadable, full, or written by others.
package final class MemoryCredentialStore: CredentialStore {
  private struct State {
    var reading: CredentialReading
    var remembered = RememberedAccount()
    var memoryFailure: AccessFailure?
    var writeFailure: AccessFailure?
    var written: [Credential] = []
    var log: [String] = []
    var passphrase: Secret?
    var isOpen = true
    var refusals: [UnlockFailure] = []
    var watchers: [AsyncStream<Void>.Continuation] = []
  }

  private let state: Mutex<State>

  package init(_ reading: CredentialReading = .neverSignedIn, remembered: RememberedAccount = RememberedAccount()) {
    state = Mutex(State(reading: reading, remembered: remembered))
  }

  package func remembered() async throws(AccessFailure) -> RememberedAccount {
    let (remembered, accessFailure) = state.withLock { ($0.remembered, $0.memoryFailure) }
    if let accessFailure { throw accessFailure }
    return remembered
  }

  package func read() async -> CredentialReading {
    state.withLock { state in
      state.log.append("read")
      return state.reading
    }
  }

  package func prepare() async throws(AccessFailure) {
    let accessFailure = state.withLock { state in
      state.log.append("prepare")
      return state.writeFailure
    }
    if let accessFailure { throw accessFailure }
  }

  package func write(_ credential: Credential) async throws(AccessFailure) {
    let accessFailure = state.withLock { state in
      state.log.append("write")
      if state.writeFailure == nil {
        state.reading = .found(credential)
        state.written.append(credential)
      }
      return state.writeFailure
    }
    if let accessFailure { throw accessFailure }
  }

  package func writeEnd(_ record: EndRecord) async throws(EndNotWritten) {
    let accessFailure = state.withLock { state in
      state.log.append("writeEnd \(record.reason.rawValue)")
      state.remembered.end = record
      if state.writeFailure == nil { state.reading = .ended(record) }
      return state.writeFailure
    }
    if let accessFailure { throw .partly(accessFailure) }
  }

  package func remove(_ record: EndRecord, fingerprint: Fingerprint?) async throws(EndNotWritten) -> RemovedCredentials
  {
    let (reading, accessFailure) = state.withLock { state in
      state.log.append("remove")
      state.remembered.end = record
      let reading = state.reading
      if state.writeFailure == nil { state.reading = .ended(record) }
      return (reading, state.writeFailure)
    }
    if let accessFailure { throw .partly(accessFailure) }
    if case .found(let credential) = reading { return RemovedCredentials(current: credential) }
    return RemovedCredentials()
  }

  package func setAside() async throws(AccessFailure) -> String {
    state.withLock { state in
      state.log.append("setAside")
      state.reading = .neverSignedIn
    }
    return "set-aside"
  }

  package func remember(lockedByUser: Bool) async throws(AccessFailure) {
    let accessFailure = state.withLock { state in
      state.log.append("remember \(lockedByUser)")
      if state.writeFailure == nil { state.remembered.lockedByUser = lockedByUser }
      return state.writeFailure
    }
    if let accessFailure { throw accessFailure }
  }

  package func needsPassphrase() async -> Bool { state.withLock { !$0.isOpen } }

  package func unlock(passphrase: Secret) async throws(UnlockFailure) {
    let failure: UnlockFailure? = state.withLock { state in
      state.log.append("unlock")
      guard let right = state.passphrase else { return .notSealed }
      if !state.refusals.isEmpty { return state.refusals.removeFirst() }
      if passphrase != right { return .wrongPassphrase }
      state.isOpen = true
      return nil
    }
    if let failure { throw failure }
  }

  package func lock() async {
    state.withLock { state in
      state.log.append("lock")
      if state.passphrase != nil { state.isOpen = false }
    }
  }

  /// Is protected by a passphrase from now on, and its key is not held. `refusing`: what the next attempts meet.
  package func isSealed(with passphrase: String, refusing refusals: UnlockFailure...) {
    state.withLock { state in
      state.passphrase = Secret(passphrase)
      state.isOpen = false
      state.refusals = refusals
    }
  }

  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    state.withLock { $0.watchers.append(continuation) }
    return stream
  }

  /// What the next read finds; the watch tells of it.
  package func becomes(_ reading: CredentialReading) {
    let watchers = state.withLock { state in
      state.reading = reading
      return state.watchers
    }
    watchers.forEach { $0.yield() }
  }

  /// What keeps the memory of the account from being read from now on; nil: nothing.
  package func cannotRemember(_ accessFailure: AccessFailure?) { state.withLock { $0.memoryFailure = accessFailure } }

  /// What keeps it from being written from now on; nil: nothing.
  package func cannotBeWritten(_ accessFailure: AccessFailure?) { state.withLock { $0.writeFailure = accessFailure } }

  package var written: [Credential] { state.withLock(\.written) }
  package var log: [String] { state.withLock(\.log) }
  package var memory: RememberedAccount { state.withLock(\.remembered) }
}

package import HearthCore

/// Unlocks, with a passphrase if the credential is sealed.
extension SessionService {
  /// How long an attempt at a passphrase waits until it may be made.
  private static let unlockTimeout: Duration = .seconds(10)

  /// Removes the lock, opens a sealed credential where a passphrase is given, and waits until it has been read,
  /// if that takes no longer than a call waits for it.
  package func unlock(_ lock: Lock, passphrase: Secret?) async throws(UnlockFailure) {
    if let passphrase { try await openStore(with: passphrase) }
    receive(.unlocked(lock))
    // Not before: what is read while locked is wiped, and the key with it.
    if passphrase != nil { receive(.credentialHinted) }
    if await ask(.awaitReading).status.state == .hydrating { return }
    await storeIsQuiet()
  }

  /// Returns true if nothing can be sealed until `unlock` is given the passphrase.
  package func needsPassphrase() async -> Bool {
    await inStoreOrder { [store] in await store.needsPassphrase() }
  }

  /// Passphrases are tried one after another, so that each gets its turn, however many are wrong before it.
  private func openStore(with passphrase: Secret) async throws(UnlockFailure) {
    try await passphraseMutex.withLock { await attempt(passphrase) }.get()
  }

  /// Tries a passphrase. After a wrong one the store accepts none for a while, which is waited out if it is short.
  private func attempt(_ passphrase: Secret) async -> Result<Void, UnlockFailure> {
    let deadline = clock.now() + Self.unlockTimeout
    while true {
      let result = await inStoreOrder { [store] in
        await Result { () async throws(UnlockFailure) in try await store.unlock(passphrase: passphrase) }
      }
      let next = clock.now()
      guard case .failure(.tooSoon(let wait)) = result, next + wait <= deadline, !isStopped, !Task.isCancelled else {
        return result
      }
      await shielded { [clock] in await clock.sleep(until: next + wait) }
    }
  }
}

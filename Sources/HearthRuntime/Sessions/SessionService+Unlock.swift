package import HearthCore

/// Unlocks, with a passphrase if the credential is sealed.
extension SessionService {
  /// How long a passphrase may wait for its attempt.
  private static let unlockTimeout: Duration = .seconds(10)

  /// Removes the lock, opens a sealed credential if a passphrase is given, and waits until the credential has been
  /// read, at most as long as a call waits for that.
  package func unlock(_ lock: Lock, passphrase: Secret?) async throws(UnlockFailure) {
    if let passphrase { try await openStore(with: passphrase) }
    receive(.unlocked(lock))
    // After the lock is removed, because what is read while locked is wiped, and the key with it.
    if passphrase != nil { receive(.credentialHinted) }
    if await ask(.awaitReading).status.state == .hydrating { return }
    await storeIsQuiet()
  }

  /// Whether nothing can be sealed until `unlock` is called with the passphrase.
  package func needsPassphrase() async -> Bool {
    await inStoreOrder { [store] in await store.needsPassphrase() }
  }

  /// Tries passphrases one after another, so that each gets its turn, however many before it are wrong.
  private func openStore(with passphrase: Secret) async throws(UnlockFailure) {
    try await passphraseMutex.withLock { await attempt(passphrase) }.get()
  }

  /// Tries a passphrase. After a wrong one the store accepts none for a while; this waits if it is short.
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

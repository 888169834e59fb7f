package import HearthCore

/// Unlocks a session, with a passphrase if the session's credential is sealed.
extension SessionService {
  /// The maximum time to keep trying a passphrase that the store refuses because it follows a wrong passphrase too
  /// soon.
  private static let unlockTimeout: Duration = .seconds(10)

  /// Removes a lock and opens the sealed credential if a passphrase is given. Waits until the credential has been read
  /// or the usual time limit has passed.
  package func unlock(_ lock: Lock, passphrase: Secret?) async throws(UnlockFailure) {
    if let passphrase { try await openStore(with: passphrase) }
    receive(.unlocked(lock))
    // Read only after removing the lock, because anything read while locked is wiped, including the key.
    if passphrase != nil { receive(.credentialHinted) }
    if await ask(.awaitReading).status.state == .hydrating { return }
    await storeIsQuiet()
  }

  /// Returns whether `unlock` must be called with a passphrase before anything can be sealed.
  package func needsPassphrase() async -> Bool {
    await inStoreOrder { [store] in await store.needsPassphrase() }
  }

  /// Tries passphrases one after the other, so that each gets its own attempt even if the previous ones are wrong.
  private func openStore(with passphrase: Secret) async throws(UnlockFailure) {
    try await passphraseMutex.withLock { await attempt(passphrase) }.get()
  }

  /// Tries a passphrase. If the store refuses passphrases for a short time after a wrong one, waits for that time.
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

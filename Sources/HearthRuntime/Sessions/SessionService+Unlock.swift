package import HearthCore

/// Unlocks a session, with a passphrase if the session's credential is sealed.
extension SessionService {
  /// The maximum time to keep trying a passphrase. After a wrong passphrase, the store refuses others for a short time.
  private static let unlockTimeout: Duration = .seconds(10)

  /// Removes a lock and opens the sealed credential if a passphrase is given. Waits until the credential has been read
  /// or the usual time limit has passed. Returns false and changes nothing if a passphrase is given but not used.
  @discardableResult
  package func unlock(_ lock: Lock, passphrase: Secret?) async throws -> Bool {
    // Wait for earlier attempts, so that a wrong passphrase does not use up the time of another caller's attempt.
    if let passphrase, try await !passphraseMutex.withLock({ await attempt(passphrase) }).get() { return false }
    receive(.unlocked(lock))
    // Read only after removing the lock, because anything read while locked is wiped, including the key.
    if passphrase != nil { receive(.credentialHinted) }
    if await ask(.awaitReading).status.state != .hydrating { await storeIsQuiet() }
    return true
  }

  /// Returns whether the account needs a passphrase before its credential can be opened or sealed.
  package func needsPassphrase() async -> Bool {
    await inStoreOrder { [store] in await store.needsPassphrase() }
  }

  /// Tries a passphrase. If the store refuses passphrases for a short time after a wrong one, waits for that time.
  private func attempt(_ passphrase: Secret) async -> Result<Bool, Failure> {
    let deadline = clock.now() + Self.unlockTimeout
    while true {
      let result = await inStoreOrder { [store] in await Result(catching: store.unlock, passphrase) }
      let next = clock.now()
      guard case .failure(let failure) = result, let wait = failure.retryAfter, next + wait <= deadline, !isStopped,
        !Task.isCancelled
      else {
        return result
      }
      await shielded { [clock] in await clock.sleep(until: next + wait) }
    }
  }
}

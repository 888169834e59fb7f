import HearthCore

/// The lock that a password sets and the same password removes, as oidc-agent's own. It is forgotten when the daemon ends.
struct AgentLock {
  private struct Held {
    let hash: String
    /// Those that were not locked before.
    let accounts: [AccountName]
  }

  private static let longestWait: Duration = .seconds(60)

  private var held: Held?
  private var wrongPasswords = 0
  private var nextAttemptAt: Timestamp?

  var isLocked: Bool { held != nil }

  /// Of the password that unlocks.
  var hash: String? { held?.hash }

  /// How long no password is tried yet, after wrong ones; nil where one may be. `now`: `Clock.steadyNow`.
  func wait(at now: Timestamp) -> Duration? {
    guard let nextAttemptAt, now < nextAttemptAt else { return nil }
    return nextAttemptAt - now
  }

  mutating func lock(with hash: String, _ accounts: [AccountName]) {
    self = AgentLock()
    held = Held(hash: hash, accounts: accounts)
  }

  /// Returns the accounts to unlock.
  mutating func unlock() -> [AccountName] {
    defer { self = AgentLock() }
    return held?.accounts ?? []
  }

  mutating func passwordWasWrong(at now: Timestamp) {
    wrongPasswords += 1
    nextAttemptAt = now + min(.seconds(1 << min(wrongPasswords - 1, 6)), Self.longestWait)
  }
}

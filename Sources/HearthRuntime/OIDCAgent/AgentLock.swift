import HearthCore

/// The lock that a password sets and the same password removes, as oidc-agent's own. It is forgotten when the daemon ends.
struct AgentLock {
  private struct Held {
    let hash: String
    /// The accounts that were not locked before.
    let accounts: [AccountName]
  }

  private var held: Held?
  var wrongPasswords = WrongPasswords()

  var isLocked: Bool { held != nil }

  /// The hash of the password that unlocks.
  var hash: String? { held?.hash }

  mutating func lock(with hash: String, _ accounts: [AccountName]) {
    self = AgentLock()
    held = Held(hash: hash, accounts: accounts)
  }

  /// Returns the accounts to unlock.
  mutating func unlock() -> [AccountName] {
    defer { self = AgentLock() }
    return held?.accounts ?? []
  }
}

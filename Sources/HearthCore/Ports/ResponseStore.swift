/// Keeps good answers of APIs over restarts. Each belongs to one user of one account, and nobody else's key finds it.
///
/// It is a cache: where it fails, nothing is found and nothing kept, and its log says why. What is wiped is gone from the
/// files when the call returns, if need be with all that was kept. Calls take effect in the order in which they are made.
package protocol ResponseStore: Sendable {
  /// The answer that was kept last for this request, by its address and the fields that select it.
  func find(_ key: ResponseKey) async -> StoredResponse?

  /// In place of what was kept for the same request. Where the account's share is used up, the answers that were found or
  /// kept longest ago make room. One that is too large is not kept, nor one that repeats a secret, and what was kept before
  /// is gone.
  func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async

  /// Nothing is kept for this request any more.
  func remove(_ key: ResponseKey) async

  /// Removes what is kept of the account, but not of this user; nil: of any.
  func wipe(_ account: AccountName, keeping subject: Subject?) async

  /// Removes what is kept of other accounts.
  func wipeAll(but accounts: Set<AccountName>) async
}

/// How much is kept, in bytes of bodies and header fields.
package struct ResponseLimits: Hashable, Sendable {
  /// The limit of one answer: by default the largest that can be given.
  package var answer: Int
  /// The limit of an account.
  package var account: Int

  package init(answer: Int = RequestMachine.responseLimit, account: Int = 32 << 20) {
    self.answer = answer
    self.account = account
  }
}

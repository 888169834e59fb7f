/// Caches successful API responses across restarts. Each response belongs to one user of one account.
///
/// If the store fails, it finds and saves nothing, and logs the reason. When a call that wipes responses returns, they
/// are gone from the files, even if the whole cache had to be removed. Calls take effect in the order in which they are
/// made.
package protocol ResponseStore: Sendable {
  /// Returns the cached response that matches the request's URL and header fields.
  func find(_ key: ResponseKey) async -> StoredResponse?

  /// Saves the response and replaces an earlier one for the same request. If the account exceeds its limit, the least
  /// recently used responses are removed. If the response is too large or contains one of `secrets`, the earlier one is
  /// removed and nothing is saved.
  func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async

  /// Removes the response to this request.
  func remove(_ key: ResponseKey) async

  /// Removes the account's responses, except those of `subject`.
  func wipe(_ account: AccountName, keeping subject: Subject?) async

  /// Removes the responses of all other accounts.
  func wipeAll(but accounts: Set<AccountName>) async
}

/// The size limits for cached responses, in bytes of body and header fields.
package struct ResponseLimits: Hashable, Sendable {
  /// The limit for one response, by default the largest that Hearth can return.
  package var answer: Int
  package var account: Int

  package init(answer: Int = RequestMachine.responseLimit, account: Int = 32 << 20) {
    (self.answer, self.account) = (answer, account)
  }
}

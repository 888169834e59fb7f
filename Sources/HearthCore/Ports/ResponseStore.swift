/// Caches successful API responses across restarts. Each response belongs to one user of one account.
///
/// If the store fails, it logs the reason, returns no responses and saves nothing. Once a call that wipes responses has
/// returned, the files no longer contain them. If necessary, the store removes the whole cache to ensure this. Calls
/// take effect in the order in which they are made.
package protocol ResponseStore: Sendable {
  /// Returns the newest cached response for the request's user and URL that matches the request's header fields
  /// (`Vary`; RFC 9110, section 12.5.5), or `nil` if there is none.
  func find(_ key: ResponseKey) async -> StoredResponse?

  /// Saves the response, replacing an earlier response to the same request. If the account exceeds its limit, the least
  /// recently used responses are removed. If the response is too large or contains one of `secrets`, nothing is saved,
  /// and the earlier response is removed.
  func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async

  /// Removes the cached response to this request.
  func remove(_ key: ResponseKey) async

  /// Removes the account's responses, except those of `subject`.
  func wipe(_ account: AccountName, keeping subject: Subject?) async

  /// Removes all cached responses except those of `accounts`.
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

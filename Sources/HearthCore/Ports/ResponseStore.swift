/// Keeps successful answers of APIs across restarts. Each belongs to one user of one account, and no other key finds
/// it.
///
/// It is a cache: if it fails, nothing is found or kept, and its log says why. Wiped answers are gone from the files
/// when the call returns, even if everything else has to go with them. Calls take effect in the order in which they are
/// made.
package protocol ResponseStore: Sendable {
  /// Returns the answer that was last kept for this request, by its URL and the header fields that select it.
  func find(_ key: ResponseKey) async -> StoredResponse?

  /// Keeps the answer in place of an earlier one for the same request. If the account's share is used up, the answers
  /// that were found or kept longest ago make room. An answer that is too large or repeats a secret is not kept, and
  /// the earlier one is removed.
  func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async

  /// Removes what is kept for this request.
  func remove(_ key: ResponseKey) async

  /// Removes what is kept for the account, except for this user, if any.
  func wipe(_ account: AccountName, keeping subject: Subject?) async

  /// Removes what is kept for other accounts.
  func wipeAll(but accounts: Set<AccountName>) async
}

/// The limits for cached answers, in bytes of bodies and header fields.
package struct ResponseLimits: Hashable, Sendable {
  /// The limit for one answer, by default the largest that can be returned.
  package var answer: Int
  /// The limit for one account.
  package var account: Int

  package init(answer: Int = RequestMachine.responseLimit, account: Int = 32 << 20) {
    (self.answer, self.account) = (answer, account)
  }
}

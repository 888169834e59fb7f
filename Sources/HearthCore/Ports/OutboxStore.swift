/// Stores outbox items. On return, a call's changes are durable, except for `begin`. On error, no item has changed.
///
/// Claims are separate from items. An item that is claimed but not sent keeps its state, and cancelling or replacing it
/// revokes the claim. An item is in flight from `begin(_:of:)` until it is settled.
///
/// The store has its own clock (`OutboxExchange.time`), which may differ from the caller's. The caller therefore passes
/// durations, except for times that a user has set (`notBefore`, `expiresAt`) or a server has confirmed.
///
/// When the store's clock is set, remaining waits and the age of `unknownSince` stay the same, even if the clock was
/// set between two runs of the daemon during one boot. After a reboot, the store does not know whether the clock was
/// set. If the clock then shows an earlier time than when a wait was last saved, `recover()` assumes that the clock was
/// set back by the difference. In each case, every retry is due within 24 hours and no `unknownSince` is in the future.
///
/// A call runs to completion even if its task is cancelled.
package protocol OutboxStore: Sendable {
  /// Registers the receiver of commits. The receiver is called for each commit with changes, in order, before the call
  /// that made the commit returns. Call `observe` once, before any other method.
  func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void)

  /// Recovers the store when the daemon starts, or after the store has broken. If the database is damaged, moves it
  /// aside and creates a new one.
  ///
  /// Releases all earlier claims. If a request may have been sent, its result counts as unknown from the time it was
  /// sent or, if that time was not recorded, from the time of the claim. The commit contains the counts of all
  /// accounts. A new database records the accounts in `paused` as paused by the user.
  func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure)

  /// Whether the database is damaged or its file is gone. If so, every call fails until `recover()` is called.
  var isBroken: Bool { get }

  /// A sentence about a damaged outbox that was moved aside, or a file that was removed or replaced, since the daemon
  /// started. `nil` if neither has happened.
  var notice: String? { get }

  /// Saves all items, in order, or none of them. If an existing item has the same owner, idempotency key and content,
  /// the receipt refers to that item, unless it has ended unsent (`ItemProgress.hasEndedUnsent`). Of `settings`, only
  /// the limits for the whole outbox apply.
  ///
  /// An item supersedes all older items with the same owner and `replaceKey` that could still be sent, in any lane or
  /// state. If an older item is in flight, the newer item waits for the result, and supersedes the older one only if it
  /// was not delivered. The newest item is the one that was created last, even if another user was signed in at that
  /// time. For exported items, `createdAt` decides.
  ///
  /// For an exported item (`NewOutboxItem.kept`), the receipt can also refer to an existing item with the same id, or
  /// to a later item with the same `replaceKey`. An existing item with the same id but another account, method or URL
  /// is a key conflict.
  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// Returns what `enqueue` would return, or throws what it would throw, without saving anything.
  func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// In one transaction, saves outcomes, ends the claims in `released`, and claims the next deliveries. A settlement
  /// without a valid claim changes nothing.
  func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange

  /// Records that the item's request is about to be sent. The record survives the end of the process but not a power
  /// loss, after which every claimed item counts as sent.
  ///
  /// Returns false if the claim no longer contains the item, if a later item of the claim has already been sent, or if
  /// the item must not be sent again because a newer item has replaced it. If this method returns false or throws, the
  /// caller must release the claim and must not send the request.
  func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool

  /// Sends the observer the counts that have changed since the last commit because requests were sent.
  func publishCounts() async

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem?

  /// Lists items in the order of their positions, across all lanes.
  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage

  /// Returns a page of items with their content, up to about `bytes` in total but at least one item. The state in
  /// `query` must be `nil` or a state that keeps the content.
  func export(_ query: OutboxQuery, bytes: Int) async throws(OutboxStoreFailure) -> ExportPage

  /// Returns the counts of one account or, if `account` is `nil`, of all accounts.
  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats

  /// Cancels or retries an item. A retried item moves to the end of its lane, unless it is held in place. An item
  /// cannot be retried if it has expired or if there is a newer item with the same `replaceKey`.
  func change(_ id: String, _ change: OutboxChange) async throws(OutboxStoreFailure) -> OutboxItem

  /// Changes up to `limit` of the account's items that clients see in `state`, in order, and returns their number.
  /// Skips items that are held for another user, except those of `unnamedBefore`. Retrying an item of `unnamedBefore`
  /// makes it unowned, so that it is assigned to the next known user.
  ///
  /// If a change takes several calls, pass the `place` from the first call to the later ones. They then skip items that
  /// have moved to the end of their lane.
  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64)

  /// Resumes up to `limit` items that are held in place for an origin in `configured` or, with `signedIn`, for a
  /// step-up, and returns their number.
  func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes `subject` the current user of an account, unless it is `unnamedBefore`. The items of all other users are
  /// held, including those of `unnamedBefore`.
  ///
  /// Assigns the items of the `former` subject to `subject`, about `limit` in each call. With `adopts`, also assigns
  /// unowned items and, for a named user, items of the unnamed user. Items in flight stay in flight, but claims that
  /// have not begun are released.
  ///
  /// If two items now have the same idempotency key, one of them may be superseded, or held for review if their
  /// contents differ (`KeyedItem`). The key then belongs to the other item. If both items stay as they are, the key
  /// belongs to the item that `subject` already owned.
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding

  /// Cancels up to `limit` undelivered items of a subject, including dead items and items in flight, and returns their
  /// number. `Subject.last` stands for the last user.
  func purge(_ account: AccountName, of subject: Subject?, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` waiting items due immediately or at their `notBefore`, whichever is later, and returns their
  /// number.
  func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Marks up to `limit` items as dead if their `expiresAt` has passed and they are not in flight. Returns the time of
  /// the next expiry, or of the first remaining expired item. `agreedTime` is the time that servers have confirmed. If
  /// it is `nil`, no item counts as expired.
  func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp?

  /// Removes up to `limit` finished items that are older than `settings` allows or exceed `maxItems`, and gives some
  /// free pages back to the file system. If `agreedTime` is `nil`, no item counts as too old.
  func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning

  /// Saves whether the user has paused these accounts.
  func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure)

  /// Sets the configured accounts for this run of the daemon. Undelivered items of all other accounts appear as held
  /// (`originNotConfigured`). Returns the accounts that the user has paused.
  func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName>
}

/// The reason why a call to the store failed.
package enum OutboxStoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A limit would be exceeded, so no item was saved.
  case full
  /// The idempotency key of the item at this index (starting at 0) belongs to an item with different content.
  case keyConflict(at: Int)
  case unknownItem
  /// An item whose state clients see as this one, for this reason, cannot be cancelled or retried.
  case invalidState(OutboxItem.State, OutboxItem.Reason? = nil)
  /// The store is unavailable, for example because the disk is full. Later calls may succeed. The value is a sentence.
  case unavailable(String)
  /// The database is damaged, or its file was removed or replaced. Call `recover()`. The value is a sentence.
  case broken(String)

  package var description: String {
    switch self {
    case .full: "The outbox is full."
    case .keyConflict: "The idempotency key belongs to an item with different content."
    case .unknownItem: "There is no such item."
    case .invalidState(.pending, _): "The item is pending and will be sent anyway."
    case .invalidState(.waiting, _):
      "The item is waiting for its next attempt. To try it now, flush the outbox, unless its notBefore is still ahead."
    case .invalidState(.inFlight, _):
      "The item is in flight, so its request may already have been sent. Wait for the result."
    case .invalidState(.held, .otherUser):
      "The item is held because it belongs to another user. Hearth sends it once that user signs in again. To discard "
        + "it, cancel it."
    case .invalidState(.held, .originNotConfigured):
      "The item is held because its account is not configured. Hearth sends it once the account is configured again. "
        + "To discard it, cancel it."
    case .invalidState(.held, _): "The item is held. Retry it or cancel it."
    case .invalidState(.delivered, _): "The item has already been delivered."
    case .invalidState(.dead, .expired):
      "The item is dead because it has expired (expiresAt). Enqueue it again to send it."
    case .invalidState(.dead, _): "The item is dead. Retry it or cancel it."
    case .invalidState(.cancelled, _): "The item was cancelled. Enqueue it again to send it."
    case .invalidState(.superseded, _): "The item has been replaced by another item."
    case .unavailable(let sentence), .broken(let sentence): sentence
    }
  }
}

package enum OutboxChange: Hashable, Sendable {
  case cancel, retry
}

/// The result of `OutboxStore.bind`.
package struct OutboxBinding: Hashable, Sendable {
  /// Whether all of the user's items have been assigned.
  package var isDone: Bool
  /// Whether this call has put any items of other users on hold.
  package var holdsOthers: Bool

  package init(isDone: Bool, holdsOthers: Bool) { (self.isDone, self.holdsOthers) = (isDone, holdsOthers) }
}

/// The result of `OutboxStore.prune`.
package struct OutboxPruning: Hashable, Sendable {
  /// Whether there is more to prune now.
  package var isMore: Bool
  /// The time at which the next finished item becomes too old, or `nil` if there are no finished items. It may be in
  /// the past.
  package var nextAt: Timestamp?
  /// Whether the files may still contain removed content, for example because the disk is too full to wipe it.
  package var leavesContent = false

  package init(isMore: Bool, nextAt: Timestamp?) { (self.isMore, self.nextAt) = (isMore, nextAt) }
}

/// A validated draft with its identifier and owner.
package struct NewOutboxItem: Hashable, Sendable {
  package var id: String
  package var draft: OutboxDraft
  package var url: HTTPURL
  package var subject: Subject?
  /// The progress of an exported item, or `nil` for a new item.
  package var kept: Kept?

  package struct Kept: Hashable, Sendable {
    package var progress: ItemProgress
    package var createdAt: Timestamp
  }

  package init(id: String, draft: OutboxDraft, url: HTTPURL, subject: Subject?, kept: Kept? = nil) {
    (self.id, self.draft, self.url) = (id, draft, url)
    (self.subject, self.kept) = (subject, kept)
  }
}

/// The result of enqueueing one item.
package struct OutboxReceipt: Hashable, Sendable {
  package var item: OutboxItem
  /// Whether `item` is an existing item, so that no new item was saved.
  package var isDuplicate: Bool

  package init(item: OutboxItem, isDuplicate: Bool) { (self.item, self.isDuplicate) = (item, isDuplicate) }
}

package struct OutboxQuery: Hashable, Sendable {
  package var account: AccountName?
  package var state: OutboxItem.State?
  package var lane: Name?
  package var limit: Int
  package var cursor: String?

  package init(
    account: AccountName? = nil, state: OutboxItem.State? = nil, lane: Name? = nil, limit: Int = 100,
    cursor: String? = nil
  ) {
    (self.account, self.state, self.lane) = (account, state, lane)
    (self.limit, self.cursor) = (limit, cursor)
  }
}

package struct OutboxPage: Hashable, Sendable {
  package var items: [OutboxItem]
  /// The cursor for the next page, or `nil` on the last page.
  package var cursor: String?

  package init(items: [OutboxItem], cursor: String?) { (self.items, self.cursor) = (items, cursor) }
}

/// The changes that one transaction has made to the outbox.
package struct OutboxCommit: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    case enqueued(OutboxItem)
    /// The item's state has changed in this transaction or since its claim.
    case changed(OutboxItem)
  }

  package var changes: [Change] = []
  /// The new counts of the accounts that have changed.
  package var stats: [AccountName: OutboxStats] = [:]
  /// Whether `stats` contains all accounts that have items.
  package var isOfAll = false
  /// For each account, the kinds of items that were added or may have become ready to be claimed.
  package var ready: [AccountName: OutboxKinds] = [:]

  package init() {}

  package var isEmpty: Bool { changes.isEmpty && stats.isEmpty && !isOfAll && ready.isEmpty }
}

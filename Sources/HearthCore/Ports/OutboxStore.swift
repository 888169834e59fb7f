/// Keeps outbox items. What a call returned survives power loss; a call that threw changed nothing.
///
/// Claims are kept apart from the items: an item that is claimed but not sent still counts as pending, and may be
/// cancelled or replaced, which revokes its claim. It is in flight from `begin(_:of:)` until it is settled.
///
/// The store has its own clock, which `OutboxExchange.time` reports. The caller's clock may differ, so it passes
/// durations: how long to wait, and how long ago something was. Points in time are passed only if people named them
/// (`notBefore`, `expiresAt`) or servers confirmed them.
///
/// When the store's clock is set, an item that waits for a retry still waits for the rest of its time, and
/// `unknownSince` stays as long ago as it was. The clock may also have been set by an unknown amount while nothing ran.
/// If it shows less than when a wait was last written, `recover()` assumes that it was set back by that difference.
/// Apart from that no retry is due more than 24 hours later, and no `unknownSince` is in the future.
///
/// A call runs to its end even if its task is cancelled.
package protocol OutboxStore: Sendable {
  /// Registers the receiver of every commit, in order and before the calls that caused them return. It must be called
  /// once, before all other calls.
  func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void)

  /// Must be called after a start, and while the store is broken: then it checks its database, sets a damaged one
  /// aside, and starts a new one. Earlier claims are released; if an item's request may have left, its result counts as
  /// unknown since then or, if the store does not know when that was, since the item was claimed. The commit has the
  /// counts of all accounts. `paused` are the accounts that the user has paused, which a new database does not know; it
  /// records them before any other call.
  func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure)

  /// Whether a call has found damage, or the file is gone: every call fails until `recover()` has been called.
  var isBroken: Bool { get }

  /// A sentence for people if a damaged outbox was set aside in this run, or its file was removed; otherwise `nil`.
  var notice: String? { get }

  /// Keeps all items, in order, or none. If an item's idempotency key is known with the same content, the receipt names
  /// the existing item, unless that one has ended unsent (`ItemProgress.hasEndedUnsent`). Only the limits in `settings`
  /// for the whole outbox apply.
  ///
  /// An item supersedes every older item of its owner with its `replaceKey` that could still be sent, in any lane and
  /// state. If the request of an older one may have left, it is superseded only if it ends undelivered, and the newer
  /// one is not claimed before. The item made last is the newest (by `createdAt` if it was exported), whichever user
  /// was known then.
  ///
  /// For an exported item (`NewOutboxItem.kept`) the receipt may also name the existing item with its id, which is a
  /// conflict of keys if it is another request, or a later item with its `replaceKey`.
  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// Returns or throws what `enqueue` would, without keeping anything.
  func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// Writes the outcomes of deliveries, ends the claims of the epochs `released`, and claims the next lanes, in one
  /// transaction. A settlement whose claim is no longer valid changes nothing.
  func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange

  /// Records that the request of this item leaves now. The record survives the end of the process, but not a loss of
  /// power, after which every claimed item counts as sent. Returns false if the claim is no longer valid. If it returns
  /// false or throws, the request must not be sent, and the claim has to be released.
  func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool

  /// Sends the observer the counts that have changed since the last commit because requests have left.
  func publishCounts() async

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem?

  /// Lists items in the order of their positions, across all lanes.
  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage

  /// Returns a page of the items whose content is kept, with their content: up to about `bytes` of it, but at least one
  /// item. The state of the query is `nil` or one whose items keep their content.
  func export(_ query: OutboxQuery, bytes: Int) async throws(OutboxStoreFailure) -> ExportPage

  /// Returns the counts of an account, or of all accounts if it is `nil`.
  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats

  /// Cancels an item, or puts a dead or held one at the end of its lane, unless it has expired. One that is held in its
  /// place resumes there.
  func change(_ id: String, _ change: OutboxChange) async throws(OutboxStoreFailure) -> OutboxItem

  /// Changes up to `limit` of an account's items, in their order, that are shown in `state` and allow the change, and
  /// returns their number. It skips items that are held for another user, except those of `unnamedBefore`: retrying one
  /// of these removes its user, so that it becomes the next user's. When a change takes several calls, passing the
  /// `place` that the first one returned skips items that were put at the end of their lane since.
  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64)

  /// Resumes up to `limit` of an account's items that are held in their places: those for an origin in `configured`
  /// and, with `signedIn`, those that needed a step-up. Returns their number.
  func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes `subject` the current user of an account; the items of other users are held from then on. Up to `limit`
  /// items that were made under the `former` name of this user become theirs. With `adopts`, so do items that were made
  /// while no user was known or (for a named user) while the user had no name. `unnamedBefore` is never the current
  /// user: those items are always held. Among items that become theirs, those in flight stay so, and those only claimed
  /// are free again. If two items with the same idempotency key meet, one may be superseded, or held for review if
  /// their contents differ (`KeyedItem`). The key then belongs to the item that can still be sent, or to the one that
  /// was there before if both can.
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding

  /// Cancels up to `limit` undelivered items of this subject, or of whoever was bound last (`Subject.last`), even dead
  /// ones and those in flight. Returns their number.
  func purge(_ account: AccountName, of subject: Subject?, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` waiting items due now, and returns their number. Those with a later `notBefore` wait for that.
  func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Marks up to `limit` items dead whose `expiresAt` has passed and whose requests have not left. Returns when the
  /// next one expires, which may have passed already if there are more. `agreedTime` is the time that servers have
  /// confirmed; if it is `nil`, no item has expired.
  func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp?

  /// Removes up to `limit` finished items that are older than `settings` allows or exceed its `maxItems`, and gives
  /// some free pages back to the disk. If `agreedTime` is `nil`, no item is too old.
  func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning

  /// Remembers across restarts whether the user has paused these accounts.
  func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure)

  /// Tells the store which accounts are configured. While this process runs, items of other accounts that have not
  /// begun are shown as held, `originNotConfigured`. Returns the accounts that the user has paused.
  func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName>
}

/// Why a call on the store failed, by what can be done about it.
package enum OutboxStoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A limit would be exceeded; no item was kept.
  case full
  /// The idempotency key of the item at this index, from 0, belongs to an item with other content.
  case keyConflict(at: Int)
  case unknownItem
  case invalidState(OutboxRefusal)
  /// The disk is full or fails, and a later call may succeed. The text is a sentence for people.
  case unavailable(String)
  /// The database is damaged, and `recover()` sets it aside. The text is a sentence for people.
  case broken(String)

  package var description: String {
    switch self {
    case .full: "The outbox is full."
    case .keyConflict: "The idempotency key belongs to an item with other content."
    case .unknownItem: "There is no such item."
    case .invalidState(let refusal): refusal.description
    case .unavailable(let sentence), .broken(let sentence): sentence
    }
  }
}

/// A change that a person may make to an item.
package enum OutboxChange: Hashable, Sendable {
  case cancel, retry
}

/// The result of `OutboxStore.bind`.
package struct OutboxBinding: Hashable, Sendable {
  /// Whether every item that was to become the user's is now theirs.
  package var isDone: Bool
  /// Whether this call made items of another user held.
  package var holdsOthers: Bool

  package init(isDone: Bool, holdsOthers: Bool) { (self.isDone, self.holdsOthers) = (isDone, holdsOthers) }
}

/// What `OutboxStore.prune` has left to do.
package struct OutboxPruning: Hashable, Sendable {
  /// Whether there is more to prune at once.
  package var isMore: Bool
  /// When the next finished item will have been kept long enough, which may have passed already. `nil` if there is
  /// none.
  package var nextAt: Timestamp?
  /// Whether the files still hold removed content of items: on a full disk there is no room to wipe it.
  package var leavesContent = false

  package init(isMore: Bool, nextAt: Timestamp?) { (self.isMore, self.nextAt) = (isMore, nextAt) }
}

/// A checked draft with its identity, ready to be kept.
package struct NewOutboxItem: Hashable, Sendable {
  package var id: String
  package var draft: OutboxDraft
  package var url: HTTPURL
  package var subject: Subject?
  /// Set for an item that was exported.
  package var kept: Kept?

  /// The progress of an exported item.
  package struct Kept: Hashable, Sendable {
    package var progress: ItemProgress
    package var createdAt: Timestamp
  }

  package init(id: String, draft: OutboxDraft, url: HTTPURL, subject: Subject?, kept: Kept? = nil) {
    (self.id, self.draft, self.url) = (id, draft, url)
    (self.subject, self.kept) = (subject, kept)
  }
}

/// What the caller learns about an item that was enqueued.
package struct OutboxReceipt: Hashable, Sendable {
  package var item: OutboxItem
  /// Whether an item with this key and content existed before.
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
  /// Where the next page begins. `nil` on the last page.
  package var cursor: String?

  package init(items: [OutboxItem], cursor: String?) { (self.items, self.cursor) = (items, cursor) }
}

/// The changes of one transaction of the outbox, for its observers.
package struct OutboxCommit: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    case enqueued(OutboxItem)
    /// The item's state differs from before it was claimed, or from before this transaction.
    case changed(OutboxItem)
  }

  /// The changes in order.
  package var changes: [Change] = []
  /// The counts of the accounts that have changed.
  package var stats: [AccountName: OutboxStats] = [:]
  /// Whether accounts that are not among `stats` have no items.
  package var isOfAll = false
  /// The accounts that have something new to claim, now or when it becomes due.
  package var ready: [AccountName: OutboxKinds] = [:]

  package init() {}

  package var isEmpty: Bool { changes.isEmpty && stats.isEmpty && !isOfAll && ready.isEmpty }
}

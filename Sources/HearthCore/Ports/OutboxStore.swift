/// Where outbox items are kept. What a call returned survives power loss; a call that threw changed nothing.
///
/// What is claimed is kept apart from the items: an item that was claimed and not sent is pending to everybody, and may
/// be cancelled or replaced, which revokes its claim. It is in flight from `begin(_:of:)` until it is settled.
///
/// The store goes by a clock of its own, which `OutboxExchange.time` tells. A caller may go by another one, so it passes
/// durations: how long to wait, and how long ago something was. Times are passed only where people have named them
/// (`notBefore`, `expiresAt`), and where servers agree to them.
///
/// When the store's clock is set, an item that waits for a retry waits for as long as it still had to, and `unknownSince` is
/// as long ago as it was. The clock may also have been set while nothing ran, by nobody knows how much. Where it shows less
/// than when a wait was last written down, `recover()` takes it for set back by that much. For all else no retry is due more
/// than 24 hours from then, and no `unknownSince` lies in the future.
///
/// A call runs to its end when its task is cancelled.
package protocol OutboxStore: Sendable {
  /// Has every commit received, in order, and before the calls that it answers return. To be called once, before all
  /// other calls.
  func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void)

  /// To be called after a start, and while the store is broken: then it checks its database, sets it aside where it is
  /// damaged, and begins a new one. What was claimed before is free again; the fate of those items whose requests may
  /// have left is unknown since they were claimed. The commit has the counts of all accounts.
  func recover() async throws(OutboxStoreFailure)

  /// Whether a call has met damage, or the file is gone: each call fails until `recover()` has been called.
  var isBroken: Bool { get }

  /// What people have to know of this run: that a damaged outbox was set aside, or that its file was removed, as a sentence;
  /// nil where there is nothing.
  var notice: String? { get }

  /// Keeps all items, in order, or none. For an item whose idempotency key is known with the same content the receipt
  /// names the item that is there, unless that has ended unsent (`ItemProgress.hasEndedUnsent`). An item supersedes each
  /// older one of its owner with its `replaceKey` that could be sent some day, in whatever lane and state. One whose
  /// request may have left is superseded where it ends otherwise than delivered, and the newer one is not claimed before.
  /// For one that was exported (`NewOutboxItem.kept`) the receipt may also name the item that has its id, which is a
  /// conflict of keys where it is another request, or a later one with its `replaceKey`. Of `settings` the limits of the
  /// whole outbox count.
  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// What `enqueue` would return now, or throw; nothing is kept.
  func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt]

  /// Writes down what became of deliveries, ends the claims of the epochs `released`, and claims the next lanes, in one
  /// transaction. A settlement whose claim does not hold any more changes nothing.
  func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange

  /// The request of this item leaves now. Survives the end of the process, though not a loss of power, after which
  /// every claimed item counts as sent. False where the claim does not hold any more. Where it is false, or this cannot be
  /// written down, the request must not be sent, and the claim is to be released.
  func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool

  /// Has the counts received that have changed since the last commit because requests have left.
  func publishCounts() async

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem?

  /// In the order of their positions, over all lanes.
  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage

  /// A page of the items whose content is kept, with it: up to about `bytes` of it, one item at least. The state of the
  /// query is one whose items keep their content, or nil.
  func export(_ query: OutboxQuery, bytes: Int) async throws(OutboxStoreFailure) -> ExportPage

  /// The counts of an account; of all accounts where it is nil.
  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats

  /// Cancels an item, or puts a dead or held one at its lane's end, but none that has expired; one that is held in its
  /// place goes on there.
  func change(_ id: String, _ change: OutboxChange) async throws(OutboxStoreFailure) -> OutboxItem

  /// Changes up to `limit` of an account's items that are shown in `state` and can be changed so, and returns their
  /// number, in their order. Items that are held for another user are left alone, but for those of `unnamedBefore`: who
  /// retries one of these makes it nobody's, so that it becomes the next user's. What was put at its lane's end since is
  /// left alone too where the `place` is passed on that the first of several calls has returned.
  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64)

  /// Has up to `limit` of an account's items go on in their places that are held there: those for an origin that is one of
  /// `configured`, and with `signedIn` those that needed a step-up. Returns their number.
  func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes `subject` the current user of an account: the items of other users are held from then on. Up to `limit`
  /// items that were made under the `former` name of this user become theirs; with `adopts` also those that were made
  /// while no user was known, or (for a named one) while the user had no name. `unnamedBefore` is never the current user:
  /// those items are always held. Of items that become theirs, what is in flight stays so, and what is only claimed is
  /// free again. Where two with one idempotency key come together, one may be superseded, or held for review where their
  /// contents differ (`KeyedItem`); the key stands for the one that goes on, and for the one that was there before where both do.
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding

  /// Cancels up to `limit` undelivered items of this subject, those in flight and dead ones included, and returns their
  /// number.
  func purge(_ account: AccountName, of subject: Subject?, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` waiting items due now, and returns their number. Those with a later `notBefore` wait for that.
  func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` items dead whose `expiresAt` has passed and whose requests have not left. Returns when the next
  /// one expires; that may have passed already where there are more. `agreedTime`: that servers agree to; without one (nil)
  /// none has expired.
  func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp?

  /// Removes up to `limit` finished items that are older than `settings` keeps them, or more than its `maxItems`, and
  /// gives some free pages back to the disk. Without a time that servers agree to (nil) none is too old.
  func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning

  /// Keeps across restarts whether the user has paused these accounts.
  func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure)

  /// The accounts that the user has paused.
  func paused() async throws(OutboxStoreFailure) -> Set<AccountName>
}

/// Why a call on the store failed, by what can be done about it.
package enum OutboxStoreFailure: Error, Hashable, Sendable {
  /// A limit would be exceeded; no item was kept.
  case full
  /// The idempotency key of the item at this index, from 0, belongs to an item with other content.
  case keyConflict(at: Int)
  case unknownItem
  case invalidState(OutboxRefusal)
  /// The disk is full or fails: a later call may succeed. The text is a sentence for people.
  case unavailable(String)
  /// The database is damaged: `recover()` sets it aside. The text is a sentence for people.
  case broken(String)
}

extension OutboxStoreFailure: CustomStringConvertible {
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

/// What a person may do with an item.
package enum OutboxChange: Hashable, Sendable {
  case cancel, retry
}

/// What came of `OutboxStore.bind`.
package struct OutboxBinding: Hashable, Sendable {
  /// Whether every item that was to become theirs is theirs now.
  package var isDone: Bool
  /// Whether this call made items of another user held.
  package var holdsOthers: Bool

  package init(isDone: Bool, holdsOthers: Bool) {
    self.isDone = isDone
    self.holdsOthers = holdsOthers
  }
}

/// What is left by `OutboxStore.prune`.
package struct OutboxPruning: Hashable, Sendable {
  /// Whether there is more to do at once.
  package var isMore: Bool
  /// When the next finished item has been kept for long enough; that may have passed already. Nil where there is none.
  package var nextAt: Timestamp?

  package init(isMore: Bool, nextAt: Timestamp?) {
    self.isMore = isMore
    self.nextAt = nextAt
  }
}

/// A checked draft with its identity: an item to be kept.
package struct NewOutboxItem: Hashable, Sendable {
  package var id: String
  package var draft: OutboxDraft
  package var url: HTTPURL
  package var subject: Subject?
  /// For an item that was exported.
  package var kept: Kept?

  /// What has become of an item before.
  package struct Kept: Hashable, Sendable {
    package var progress: ItemProgress
    package var createdAt: Timestamp
  }

  package init(id: String, draft: OutboxDraft, url: HTTPURL, subject: Subject?, kept: Kept? = nil) {
    self.id = id
    self.draft = draft
    self.url = url
    self.subject = subject
    self.kept = kept
  }
}

/// What is known of an item that was enqueued.
package struct OutboxReceipt: Hashable, Sendable {
  package var item: OutboxItem
  /// An item with this key and content was there before.
  package var isDuplicate: Bool

  package init(item: OutboxItem, isDuplicate: Bool) {
    self.item = item
    self.isDuplicate = isDuplicate
  }
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
    self.account = account
    self.state = state
    self.lane = lane
    self.limit = limit
    self.cursor = cursor
  }
}

package struct OutboxPage: Hashable, Sendable {
  package var items: [OutboxItem]
  /// Where the next page begins; nil on the last page.
  package var cursor: String?

  package init(items: [OutboxItem], cursor: String?) {
    self.items = items
    self.cursor = cursor
  }
}

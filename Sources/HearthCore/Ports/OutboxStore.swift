/// Where outbox items are kept. What a call returned survives power loss; a call that threw changed nothing.
///
/// A call runs to its end when its task is cancelled.
package protocol OutboxStore: Sendable {
  /// To be called once after a start: items that were in flight when the process ended are pending again, with their
  /// fate unknown since they were claimed.
  func recover(at now: Timestamp) async throws(OutboxStoreFailure)

  /// Keeps all items, in order, or none. For an item whose idempotency key is known with the same content the receipt
  /// names the item that is there. Of `settings` the limits of the whole outbox count.
  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> (receipts: [OutboxReceipt], totals: OutboxTotals)

  /// Writes down the outcomes of deliveries and claims the next ones, in one transaction.
  func complete(
    _ finished: [FinishedDelivery], claiming claims: [OutboxClaim], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxCompletion

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem?

  /// In the order of their positions, over all lanes.
  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage

  /// The counts of an account; of all accounts where it is nil.
  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats

  /// The counts of all accounts. They are numbered, and the caller publishes each number it gets.
  func totals() async throws(OutboxStoreFailure) -> OutboxTotals

  /// Cancels an item, or puts a dead or held one at its lane's end. Claimed deliveries that were not sent are
  /// `released` in the same transaction.
  func change(
    _ id: String, _ change: OutboxChange, releasing released: [FinishedDelivery], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem

  /// Changes up to `limit` of an account's items that are in `state`, and returns their number. Items that are held for
  /// another user are left alone.
  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes `subject` the current user of an account: the items of other users are held from then on. Up to `limit`
  /// items that were made under the `former` name of this user become theirs; with `adopts` also those that were made
  /// while no user was known.
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding

  /// Cancels up to `limit` undelivered items of this subject, and returns their number.
  func purge(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` waiting items due now, and returns their number. Those with a later `notBefore` wait for that.
  func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int

  /// The clock was stepped by `shift`: retries are due after the same wait as before, but at most after the longest wait
  /// that a server may ask for.
  func shiftSchedule(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure)

  /// Makes up to `limit` items dead whose `expiresAt` has passed.
  func expire(
    limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> (items: [OutboxItem], totals: OutboxTotals)

  /// Removes up to `limit` finished items that are older than `settings` keeps them, or more than its `maxItems`, and
  /// gives some free pages back to the disk. Returns whether there is more to do.
  func prune(keeping settings: OutboxSettings, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Bool

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
  case invalidState(OutboxItem.State)
  /// The disk is full or fails: a later call may succeed. The text is a sentence for people.
  case unavailable(String)
  /// The database is damaged: the next start sets it aside. The text is a sentence for people.
  case broken(String)
}

extension OutboxStoreFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .full: "The outbox is full."
    case .keyConflict: "The idempotency key belongs to an item with other content."
    case .unknownItem: "There is no such item."
    case .invalidState(let state): "The item is \(state.rawValue)."
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

/// A checked draft with its identity: an item to be kept.
package struct NewOutboxItem: Hashable, Sendable {
  package var id: String
  package var draft: OutboxDraft
  package var url: HTTPURL
  package var subject: Subject?

  package init(id: String, draft: OutboxDraft, url: HTTPURL, subject: Subject?) {
    self.id = id
    self.draft = draft
    self.url = url
    self.subject = subject
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

/// The outcome of a claimed delivery, to be written down.
package struct FinishedDelivery: Hashable, Sendable {
  /// The store's number of the item.
  package var number: Int64
  package var outcome: DeliveryOutcome

  package init(number: Int64, outcome: DeliveryOutcome) {
    self.number = number
    self.outcome = outcome
  }
}

/// A request for an account's next deliveries, under one subject.
package struct OutboxClaim: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// The most items of lanes, and the most unordered ones. The two limits do not count against each other.
  package var lanes: Int
  package var unordered: Int
  /// Whether the items behind the head of a lane are claimed with it, to be sent one after the other.
  package var takesFollowers: Bool
  /// The origins that may be sent to now: without a limit, or (`probed`) one item alone. Items for other origins of
  /// `configured` are not claimed.
  package var open: Set<Origin>
  package var probed: Set<Origin>
  /// The account's `api_origins`. Items for any other origin are dead, `rejected`.
  package var configured: Set<Origin>
  /// Items that have expired by then are dead; nil while no server has confirmed the time.
  package var agreedTime: Timestamp?
  package var policy: DeliveryPolicy

  package init(
    account: AccountName, subject: Subject?, lanes: Int, unordered: Int, takesFollowers: Bool, open: Set<Origin>,
    probed: Set<Origin> = [], configured: Set<Origin>, agreedTime: Timestamp?, policy: DeliveryPolicy
  ) {
    self.account = account
    self.subject = subject
    self.lanes = lanes
    self.unordered = unordered
    self.takesFollowers = takesFollowers
    self.open = open
    self.probed = probed
    self.configured = configured
    self.agreedTime = agreedTime
    self.policy = policy
  }
}

/// What came of `OutboxStore.complete`.
package struct OutboxCompletion: Hashable, Sendable {
  /// What a claim brought.
  package struct Claimed: Hashable, Sendable {
    package var batches: [LaneBatch] = []
    /// When the next item becomes due that could not be claimed yet.
    package var nextDueAt: Timestamp?
    /// The kinds of which there may be more: a limit was reached.
    package var cut: OutboxKinds = []
    /// Some items seem to have expired; whether they have depends on the time that this origin reports.
    package var timeNeededFrom: Origin?

    package init() {}
  }

  /// The items whose state changed, as they are now, in order. Released ones are not among them.
  package var changed: [OutboxItem] = []
  package var claimed: [AccountName: Claimed] = [:]
  /// The earliest `expiresAt` of an undelivered item.
  package var nextExpiryAt: Timestamp?
  package var totals = OutboxTotals()

  package init() {}
}

package struct OutboxQuery: Hashable, Sendable {
  package var account: AccountName?
  package var state: OutboxItem.State?
  package var lane: String?
  package var limit: Int
  package var cursor: String?

  package init(
    account: AccountName? = nil, state: OutboxItem.State? = nil, lane: String? = nil, limit: Int = 100,
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

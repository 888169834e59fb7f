/// Where outbox items are kept. What a call returned survives power loss; a call that threw changed nothing.
///
/// No call is given up when its task is cancelled.
package protocol OutboxStore: Sendable {
  /// After a start: what was in flight when the process ended is pending again, its fate unknown since it was taken.
  func recover(at now: Timestamp) async throws(OutboxStoreFailure)

  /// Keeps all items, in order, or none. One whose key is known with the same content is answered with the item there.
  func enqueue(
    _ items: [NewOutboxItem], limits: OutboxLimits, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxReceipts

  /// Writes down what became of deliveries and takes the next ones, in one step.
  func settle(
    _ finished: [FinishedDelivery], claims: [OutboxClaim], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxSettlement

  func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem?

  /// In the order of their places.
  func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage

  func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats

  /// The counts of all accounts, numbered: each number is to be told.
  func totals() async throws(OutboxStoreFailure) -> OutboxTotals

  /// Takes back an item, or puts a dead one, or one that needs review, at its lane's end. What was not sent after all
  /// is `released` in the same step.
  func change(
    _ id: String, _ change: OutboxChange, releasing released: [FinishedDelivery], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem

  /// The same for up to `limit` of an account's items in a state; returns how many there were. Held for another user
  /// stays as it is.
  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes `subject` the one whose items are not another user's. Up to `limit` items that were made under their
  /// `former` name, and with `adopts` also those that were made while nobody was known, become theirs.
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding

  /// Cancels up to `limit` undelivered items of this subject; returns how many there were.
  func discard(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int

  /// Makes up to `limit` waiting items due now, but for those with a `notBefore`; returns how many there were.
  func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int

  /// The clock was stepped by `shift`: retries wait as long as before, and none longer than a server may ask for.
  func shiftSchedule(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure)

  /// Up to `limit` items that are past their `expiresAt` are dead.
  func expire(limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> (items: [OutboxItem], OutboxTotals)

  /// Removes up to `limit` items that were finished long ago, and gives some free pages back; returns whether there is
  /// more to do.
  func prune(_ retention: OutboxRetention, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Bool

  func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure)

  /// The accounts that the user has paused.
  func paused() async throws(OutboxStoreFailure) -> Set<AccountName>
}

package enum OutboxStoreFailure: Error, Hashable, Sendable {
  /// A limit would be passed; nothing was taken.
  case full
  /// The idempotency key of the item at this place, from 0, stands for another content.
  case keyConflict(at: Int)
  case unknownItem
  case invalidState(OutboxItem.State)
  /// Disk full, input or output error: later may do.
  case unavailable(String)
  /// The database is malformed; the next start sets it aside.
  case broken(String)
}

extension OutboxStoreFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .full: "The outbox is full."
    case .keyConflict: "The idempotency key stands for another content."
    case .unknownItem: "There is no such item."
    case .invalidState(let state): "The item is \(state.rawValue)."
    case .unavailable(let sentence), .broken(let sentence): sentence
    }
  }
}

package enum OutboxChange: Hashable, Sendable {
  case cancel, retry
}

package struct OutboxBinding: Hashable, Sendable {
  /// Whether all of nobody's items are theirs now.
  package var isDone: Bool
  /// Whether items of another user are held since this call.
  package var holdsOthers: Bool

  package init(isDone: Bool, holdsOthers: Bool) {
    self.isDone = isDone
    self.holdsOthers = holdsOthers
  }
}

package struct OutboxLimits: Hashable, Sendable {
  package var items: Int
  package var bytes: Int

  package init(items: Int, bytes: Int) {
    self.items = items
    self.bytes = bytes
  }
}

/// An item to be kept, valid in itself.
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

package struct OutboxReceipts: Hashable, Sendable {
  package struct Receipt: Hashable, Sendable {
    package var item: OutboxItem
    package var isDuplicate: Bool

    package init(item: OutboxItem, isDuplicate: Bool) {
      self.item = item
      self.isDuplicate = isDuplicate
    }
  }

  package var receipts: [Receipt]
  package var totals: OutboxTotals

  package init(receipts: [Receipt], totals: OutboxTotals) {
    self.receipts = receipts
    self.totals = totals
  }
}

package struct FinishedDelivery: Hashable, Sendable {
  package var number: Int64
  package var verdict: DeliveryOutcome

  package init(number: Int64, verdict: DeliveryOutcome) {
    self.number = number
    self.verdict = verdict
  }
}

/// Asks for an account's next deliveries under one subject.
package struct OutboxClaim: Hashable, Sendable {
  package var account: AccountName
  package var subject: Subject?
  /// How many items of lanes, and how many unordered ones: these take no room from those.
  package var lanes: Int
  package var unordered: Int
  /// Whether items behind the head of a lane are taken with it, to go out one after the other.
  package var takesFollowers: Bool
  /// Where items may go now: without limit, or one item alone. Those for other origins of `configured` stay.
  package var open: Set<Origin>
  package var probed: Set<Origin>
  /// Items for an origin that is not in here are dead.
  package var configured: Set<Origin>
  /// What has expired by then is dead; nil while it is not known what time it is.
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

package struct OutboxSettlement: Hashable, Sendable {
  /// What a claim brought.
  package struct Claimed: Hashable, Sendable {
    package var runs: [LaneBatch] = []
    /// When the next item is due that could not be taken yet.
    package var nextDueAt: Timestamp?
    /// A limit was reached: there may be more of these.
    package var cut: OutboxKinds = []
    /// Items that seem to have expired wait for this origin to tell the time.
    package var timeNeededFrom: Origin?

    package init() {}
  }

  /// The items that changed, as they are now, in order: finished ones, and those that were not sent after all.
  package var changed: [OutboxItem] = []
  package var claimed: [AccountName: Claimed] = [:]
  /// The earliest `expiresAt`.
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
  /// Where the next page begins; nil on the last one.
  package var cursor: String?

  package init(items: [OutboxItem], cursor: String?) {
    self.items = items
    self.cursor = cursor
  }
}

package struct OutboxRetention: Hashable, Sendable {
  package var delivered: Duration
  package var dead: Duration
  /// Finished items beyond this number go earlier.
  package var maxFinished: Int

  package init(delivered: Duration, dead: Duration, maxFinished: Int) {
    self.delivered = delivered
    self.dead = dead
    self.maxFinished = maxFinished
  }
}

@testable import HearthCore

/// A running outbox: the machine, and all that it has under way. It ends with a crash or a shutdown.
struct SimulatedDaemon {
  /// It has read what an earlier one has left.
  var isRecovered = false
  enum WorkResult {
    case failed, recovered
    case paused(Set<AccountName>)
    case bound(OutboxBinding)
    case freed(Int)
    case exchanged(OutboxExchange)
    case expired(Timestamp?)
    case pruned(OutboxPruning)
    case held(cursor: String?)
  }

  var machine: OutboxMachine
  var work: (work: OutboxStoreWork, at: Timestamp)?
  /// When that has begun, in milliseconds that had passed.
  var workBegan = 0
  /// `skew` as the work was decided.
  var workSkew: Int?
  var result: WorkResult?
  var isSignalled = false
  /// Nil while it works.
  var restsUntil: Timestamp?
  var ready: [AccountName: OutboxKinds] = [:]

  /// The senders that have not come to their end.
  var senders: Set<SenderID> = []
  var waiting: Set<SenderID> = []
  var asking: [SenderID: AccountName] = [:]
  /// How many unordered requests were allowed at once when the senders of now were started; nil for no more than now.
  var concurrencyBefore: Int?
  /// The senders that were started and have not taken a step.
  var fresh: Set<SenderID> = []
  /// When each sender was started, or began its later item, as a tick.
  var begunAt: [SenderID: Int] = [:]
  var flights: [SenderID: SimulatedFlight] = [:]
  var calls: [Int: SimulatedCall] = [:]
  var lastCall = 0
  var flushes: [Int: SimulatedFlush] = [:]
  /// The number of the last call that resumes an account.
  var resumes: [AccountName: Int] = [:]

  /// The tokens that an API has accepted.
  var accepted: Set<Fingerprint> = []
  /// The clocks of each account's servers less this one, as they were last told, and the accounts whose servers were asked.
  var told: [AccountName: [Origin: Int]] = [:]
  var asked: Set<AccountName> = []
  /// The servers' clock less this one, as the machine may use it: that of the server which contradicts this clock least.
  var skew: Int? { told.values.flatMap(\.values).min { abs($0) < abs($1) } ?? (asked.isEmpty ? nil : 0) }
  /// Origins that could not be reached when they were tried last, of each account, and since which tick.
  var out: [AccountName: [Origin: Int]] = [:]
  /// Until when the machine may wait because no good token could be had.
  var stalledUntil: [AccountName: Int] = [:]

  /// By the configuration that it was told last.
  var overrides: [AccountName: DeliveryOverrides]

  init(_ machine: OutboxMachine, _ overrides: [AccountName: DeliveryOverrides]) {
    (self.machine, self.overrides) = (machine, overrides)
  }
}

/// A call of a client.
struct SimulatedCall {
  enum Kind {
    case enqueue([NewOutboxItem])
    case change(id: String, OutboxChange)
    case changeAll(AccountName, OutboxItem.State, OutboxChange)
    case pause(Set<AccountName>, Bool, number: Int)
    case flush(Set<AccountName>, timeout: Int)
    /// One subject's items after the other's. `user`: whose items are to be gone.
    case purge(AccountName, of: [Subject?], user: Subject?, signsOut: Bool)

    var subjects: [Subject?] { if case .purge(_, let subjects, _, _) = self { subjects } else { [] } }
  }

  let kind: Kind
  var hasFailed = false
  /// The number of subjects whose items are discarded; the last item that was there when that began, and the time.
  var purged = 0
  var lastItem: Int64?
  var purgedAt: Int?
  /// The owner in the store that was bound last when a discard began.
  var lastUser: Int?
  var receipts: [OutboxReceipt] = []
}

/// A call of flush that waits.
struct SimulatedFlush {
  let accounts: Set<AccountName>
  let begunAt: Int
  /// What was enqueued later does not matter.
  let lastItem: Int64
  /// Since when there is nothing to wait for.
  var idleSince: Int?
}

@testable import HearthCore

/// A running outbox: the machine, and everything that it has under way. It ends with a crash or a shutdown.
struct SimulatedDaemon {
  /// Whether it has read what an earlier daemon left.
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
  /// When the work began, in milliseconds that had passed.
  var workBegan = 0
  /// `skew` when the work was decided.
  var workSkew: Int?
  var result: WorkResult?
  var isSignalled = false
  /// `nil` while it works.
  var restsUntil: Timestamp?
  var ready: [AccountName: OutboxKinds] = [:]

  /// The senders that have not ended.
  var senders: Set<SenderID> = []
  var waiting: Set<SenderID> = []
  var asking: [SenderID: AccountName] = [:]
  /// How many unordered requests were allowed at once when the current senders were started, or `nil` if no more than
  /// now.
  var concurrencyBefore: Int?
  /// The senders that were started but have not taken a step.
  var fresh: Set<SenderID> = []
  /// The tick at which each sender was started, or began its later item.
  var begunAt: [SenderID: Int] = [:]
  var flights: [SenderID: SimulatedFlight] = [:]
  var calls: [Int: SimulatedCall] = [:]
  var lastCall = 0
  var flushes: [Int: SimulatedFlush] = [:]
  /// The number of the last call that resumes an account.
  var resumes: [AccountName: Int] = [:]

  /// The tokens that an API has accepted.
  var accepted: Set<Fingerprint> = []
  /// The last reported skews of each account's servers, and the accounts whose servers were asked.
  var told: [AccountName: [Origin: Int]] = [:]
  var asked: Set<AccountName> = []
  /// The servers' clock minus this one, as the machine may use it: that of the server that contradicts this clock
  /// least.
  var skew: Int? { told.values.flatMap(\.values).min { abs($0) < abs($1) } ?? (asked.isEmpty ? nil : 0) }
  /// The origins of each account that were unreachable at the last try, and since which tick.
  var out: [AccountName: [Origin: Int]] = [:]
  /// Until when the machine may wait because no good token was available.
  var stalledUntil: [AccountName: Int] = [:]

  /// The overrides of the configuration that it last received.
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
    /// Discards one subject's items after the other's. `user` is the one whose items have to be gone.
    case purge(AccountName, of: [Subject?], user: Subject?, signsOut: Bool)

    var subjects: [Subject?] { if case .purge(_, let subjects, _, _) = self { subjects } else { [] } }
  }

  let kind: Kind
  var hasFailed = false
  /// The number of subjects whose items were discarded, the last item that existed when that began, and the time.
  var purged = 0
  var lastItem: Int64?
  var purgedAt: Int?
  /// The owner in the store that was last bound when a discard began.
  var lastUser: Int?
  var receipts: [OutboxReceipt] = []
}

/// A flush call that waits.
struct SimulatedFlush {
  let accounts: Set<AccountName>
  let begunAt: Int
  /// Items that were enqueued later do not matter.
  let lastItem: Int64
  /// Since when there is nothing to wait for.
  var idleSince: Int?
}

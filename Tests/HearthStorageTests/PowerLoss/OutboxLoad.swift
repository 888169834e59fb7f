import HearthCore
import Synchronization
import TestSupport

@testable import HearthStorage

/// Callers and deliveries that keep an outbox busy until its disk fails.
struct OutboxLoad: Sendable {
  static let accounts = [Sample.work, Sample.other]

  let store: SQLiteOutboxStore
  let oracle: Oracle
  let clock: LoadClock
  let disk: FaultyDisk
  let seed: UInt64

  private final class Callers: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    var areDone: Bool { left.withLock { $0 == 0 } }
    func oneIsDone() { left.withLock { $0 -= 1 } }
  }

  /// Runs until the disk is dead, or each caller has made `calls` calls and everything is delivered.
  func run(calls: Int = .max) async {
    let callers = Callers(Self.accounts.count * LoadClock.lanes.count)
    await withTaskGroup(of: Void.self) { group in
      for account in Self.accounts {
        for lane in LoadClock.lanes {
          group.addTask {
            await produce("\(lane)-\(account)", account, calls: calls)
            callers.oneIsDone()
          }
        }
        group.addTask { await deliver(account, callers) }
      }
      group.addTask { await prune(callers) }
    }
  }

  // MARK: - Callers

  private func produce(_ lane: String, _ account: AccountName, calls: Int) async {
    var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: lane.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
    for _ in 0..<calls {
      while oracle.openCount > 400 {
        await Task.yield()
        if disk.isDead { return }
      }
      let orders = clock.orders(in: lane, count: random.next() % 4 == 0 ? 3 : 1)
      guard await enqueue(orders, account) else { return }
    }
  }

  private func enqueue(_ orders: LoadClock.Call, _ account: AccountName) async -> Bool {
    oracle.asks(orders.orders)
    do {
      let items = try orders.items(of: account)
      let settings = OutboxSettings.limits(items: 100_000, bytes: 1 << 30)
      let receipts = try await store.enqueue(items, within: settings)
      oracle.kept(call: orders.number, receipts)
      clock.answered(orders)
      return true
    } catch let failure as OutboxStoreFailure {
      return note(failure)
    } catch {
      oracle.note("an order cannot be asked for: \(error)")
      return false
    }
  }

  /// A store whose disk has failed may only say that it is not available.
  private func note(_ failure: OutboxStoreFailure) -> Bool {
    if case .unavailable = failure { return false }
    oracle.note("the store said \(failure)")
    return false
  }

  // MARK: - Deliveries

  private func deliver(_ account: AccountName, _ callers: Callers) async {
    var random = SeededGenerator(seed: seed &+ UInt64(account.description.utf8.count))
    let demand = OutboxDemand(
      account: account, subject: Sample.alice, lanes: 16, unordered: 16, takesFollowers: true, open: [Sample.origin],
      configured: [Sample.origin], expiry: .agreed(clock.now()), policy: DeliveryPolicy(OutboxSettings()))
    var settled: [Settlement] = []
    var ids: [String] = []
    while !disk.isDead {
      let wasLast = callers.areDone
      do {
        for id in ids { oracle.reported(id) }
        let exchange = try await store.exchange(settled, releasing: [], claiming: [demand])
        for (id, settlement) in zip(ids, settled) { oracle.finished(id, isDone: settlement.outcome.leavesLane) }
        let claimed = exchange.claimed[account]
        let claims = claimed?.claims ?? []
        for delivery in claims.deliveries { oracle.taken(delivery.item.id) }
        if wasLast, ids.isEmpty, claims.isEmpty, claimed?.nextDueAt == nil { return }
        (settled, ids) = ([], [])
        for claim in claims {
          var goesOn = true
          for delivery in claim.deliveries {
            let outcome = goesOn ? send(delivery, of: claim, &random) : .released
            goesOn = goesOn && outcome.leavesLane
            settled.append(Settlement(epoch: claim.epoch, number: delivery.number, outcome: outcome))
            ids.append(delivery.item.id)
          }
        }
        if claims.isEmpty { await Task.yield() }
      } catch {
        _ = note(error)
        return
      }
    }
  }

  private func send(
    _ delivery: Delivery, of claim: LaneClaim, _ random: inout SeededGenerator
  ) -> DeliveryOutcome {
    guard (try? store.begin(delivery.number, of: claim.epoch)) == true else {
      oracle.note("\(delivery.item.id) may not be sent though it is claimed")
      return .released
    }
    func wait(_ status: Int?) -> DeliveryOutcome {
      .waiting(
        DeliveryOutcome.Wait(
          duration: .milliseconds(3), unknownFor: status == nil ? .zero : nil, isConflict: false,
          status: status,
          error: "Not now."))
    }
    switch random.next() % 20 {
    case 0:
      oracle.serve(delivery)
      return wait(nil)
    case 1: return wait(nil)
    case 2: return wait(503)
    case 3: return .released
    default:
      oracle.serve(delivery)
      return .delivered(status: 200)
    }
  }

  private func prune(_ callers: Callers) async {
    let settings = OutboxSettings.keeping(delivered: .seconds(3600), dead: .seconds(3600), maxFinished: 100)
    while !callers.areDone, !disk.isDead {
      do {
        _ = try await store.prune(keeping: settings, limit: 20, by: clock.now())
        await Task.yield()
      } catch {
        _ = note(error)
        return
      }
    }
  }
}

/// The time, names and numbers that continue from one start of the store to the next.
final class LoadClock: Clock {
  /// The requests of one call.
  struct Call: Sendable {
    var number: Int
    var orders: [(id: String, order: Oracle.Order)]
  }

  /// In a keyed lane, a call that was not answered is made again. The loose ones are in no lane.
  static let lanes = ["plain", "keyed", "loose", "loose-keyed"]

  private struct State {
    var milliseconds = Sample.start.milliseconds
    var calls = 0
    var numbers: [String: Int] = [:]
    var open: [String: Call] = [:]
  }

  private let state = Mutex(State())

  func now() -> Timestamp {
    state.withLock { state in
      state.milliseconds += 1
      return Timestamp(milliseconds: state.milliseconds)
    }
  }

  func moment() -> (now: Timestamp, stepped: Duration) { (now(), .zero) }

  func sleep(until deadline: Timestamp) async {}

  func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer { ClockTimer {} }

  func steps() -> AsyncStream<Duration> { AsyncStream { $0.finish() } }

  /// The next call in a lane, or for a keyed lane the last one if that was not answered.
  func orders(in lane: String, count: Int) -> Call {
    state.withLock { state in
      if lane.contains("keyed"), let open = state.open[lane] { return open }
      state.calls += 1
      let first = state.numbers[lane, default: 0]
      state.numbers[lane] = first + count
      let call = Call(
        number: state.calls,
        orders: (first + 1...first + count).map { number in
          let random = UInt64(state.calls) << 20 | UInt64(number)
          let id = OutboxItem.makeID(
            at: Timestamp(milliseconds: state.milliseconds), random: (random, random &* 0x9E37_79B9))
          return (id, Oracle.Order(lane: lane, number: number, call: state.calls))
        })
      state.open[lane] = call
      return call
    }
  }

  func answered(_ call: Call) {
    state.withLock { state in
      if let lane = call.orders.first?.order.lane { state.open[lane] = nil }
    }
  }
}

extension Oracle.Order {
  var isKeyed: Bool { lane.contains("keyed") }
}

extension LoadClock.Call {
  /// The requests in the form that the store accepts.
  func items(of account: AccountName) throws -> [NewOutboxItem] {
    try orders.map { id, order in
      let draft = OutboxDraft(
        account: account, method: "POST", url: "https://api.example.com/\(order)",
        headers: [APIRequest.Header(name: "X-Order", value: "\(order)")], body: order.body, lane: Name(order.lane),
        isUnordered: !order.isInLane, idempotencyKey: order.isKeyed ? "\(order)" : nil)
      return NewOutboxItem(id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: Sample.alice)
    }
  }
}

import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("Faults of the outbox's disk")
struct OutboxFaultTests {
  typealias Calls = FaultyDisk.Calls

  struct Case: Sendable, CustomTestStringConvertible {
    var calls: Calls
    var fault: FaultyDisk.Fault
    var isLasting: Bool

    var testDescription: String { "\(fault) at \(calls)\(isLasting ? ", from then on" : "")" }
  }

  private static let cases: [Case] = [
    Case(calls: .write, fault: .full, isLasting: false), Case(calls: .write, fault: .full, isLasting: true),
    Case(calls: .write, fault: .broken, isLasting: false), Case(calls: .write, fault: .short, isLasting: false),
    Case(calls: .sync, fault: .broken, isLasting: false), Case(calls: .sync, fault: .broken, isLasting: true),
    Case(calls: [.truncate, .delete], fault: .broken, isLasting: false),
    Case(calls: .open, fault: .broken, isLasting: false), Case(calls: .open, fault: .full, isLasting: true),
    Case(calls: .read, fault: .broken, isLasting: false), Case(calls: .read, fault: .broken, isLasting: true),
    Case(calls: .allocate, fault: .full, isLasting: true),
    Case(calls: [.write, .sync, .truncate, .allocate], fault: .broken, isLasting: true),
  ]

  @Test("a fault at any call loses nothing, and the outbox continues when it is over", arguments: cases)
  func everyCall(_ fault: Case) async throws {
    try await inTurn {
      var nth = 1
      while true {
        let run = try await FaultRun(fault, nth: nth)
        let failed = try await run.play()
        #expect(run.oracle.problems == [], "at call \(nth)")
        if failed == 0 || !run.oracle.problems.isEmpty { break }
        // The step is a prime number, so that each kind of ending and of luck occurs.
        nth += isThorough || nth < 4 ? 1 : 13
      }
      // The script is long enough to reach each kind of call.
      #expect(nth > 1)
    }
  }
}

/// Runs the same short history each time, with a fault at the `nth` call, and checks what must be true afterwards.
private final class FaultRun {
  private let fault: OutboxFaultTests.Case
  private let nth: Int
  let oracle = Oracle()
  private let clock = LoadClock()
  private var disk: FaultyDisk
  private var store: SQLiteOutboxStore?
  private var taken: [LaneClaim] = []

  init(_ fault: OutboxFaultTests.Case, nth: Int) async throws {
    self.fault = fault
    self.nth = nth
    disk = try FaultyDisk()
  }

  private var path: String { disk.folder.file("outbox.sqlite") }

  /// Returns how many calls failed.
  func play() async throws -> Int {
    disk.fail(fault.calls, fault.fault, nth: nth, isLasting: fault.isLasting)
    await open()
    for step in 0..<6 { await self.step(step) }
    // The store is opened a second time, because people try a restart first.
    if nth % 2 == 0 {
      store = nil
      taken = []
      await open()
    }
    for step in 6..<8 { await self.step(step) }
    let failed = disk.fix()
    try await end()
    return failed
  }

  private func open() async {
    do {
      let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
      if let place = opened.setAside { oracle.note("a sound outbox was set aside at \(place)") }
      // The log is then written back now and then.
      try await opened.store.withConnection { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 40") }
      try await opened.store.recover()
      oracle.reopened()
      store = opened.store
    } catch let failure as OutboxStoreFailure {
      note(failure)
    } catch let failure as DatabaseError {
      if failure.resultCode == .SQLITE_CORRUPT { oracle.note("the store said \(failure)") }
    } catch {
      oracle.note("the store threw \(error)")
    }
  }

  /// The store may only say that it is not available now.
  private func note(_ failure: OutboxStoreFailure) {
    if case .unavailable = failure { return }
    oracle.note("the store said \(failure)")
  }

  private func step(_ step: Int) async {
    guard let store else { return await open() }
    await enqueue(step % 3 == 0 ? 3 : 1, in: LoadClock.lanes[step % 4], store)
    if step % 2 == 1 { await complete(store) }
    if step == 5 {
      do {
        let settings = OutboxSettings.keeping(delivered: .zero, dead: .zero, maxFinished: 1)
        _ = try await store.prune(keeping: settings, limit: 10, by: clock.now())
      } catch {
        note(error)
      }
    }
  }

  private func enqueue(_ count: Int, in lane: String, _ store: SQLiteOutboxStore) async {
    let call = clock.orders(in: lane, count: count)
    oracle.asks(call.orders)
    do {
      let items = try call.items(of: Sample.work)
      let settings = OutboxSettings.limits(items: 1000, bytes: 1 << 30)
      oracle.kept(call: call.number, try await store.enqueue(items, within: settings))
      clock.answered(call)
    } catch let failure as OutboxStoreFailure {
      oracle.refused(call: call.number)
      note(failure)
    } catch {
      oracle.note("\(error)")
    }
  }

  /// Reports the outcomes of the deliveries claimed before, until the store has written them, and claims the next ones.
  private func complete(_ store: SQLiteOutboxStore) async {
    let demand = OutboxDemand(
      account: Sample.work, subject: Sample.alice, lanes: 4, unordered: 4, takesFollowers: true, open: [Sample.origin],
      configured: [Sample.origin], expiry: .agreed(clock.now()), policy: DeliveryPolicy(OutboxSettings()))
    for delivery in taken.deliveries { oracle.reported(delivery.item.id) }
    let settled = taken.settled { _ in .delivered(status: 200) }
    do {
      let exchange = try await store.exchange(settled, releasing: [], claiming: [demand])
      for delivery in taken.deliveries { oracle.finished(delivery.item.id, isDone: true) }
      taken = exchange.claimed[Sample.work]?.claims ?? []
      for claim in taken {
        for delivery in claim.deliveries {
          oracle.taken(delivery.item.id)
          guard try store.begin(delivery.number, of: claim.epoch) else {
            oracle.note("\(delivery.item.id) may not be sent though it is claimed")
            continue
          }
          oracle.serve(delivery)
        }
      }
    } catch {
      note(error)
    }
  }

  /// The fault is over. The open store continues, and so does one that is opened from what a power loss would leave.
  private func end() async throws {
    if fault.calls == .allocate, store == nil { oracle.note("the outbox does not open without its reserve") }
    if let store {
      for _ in 0..<3 { await complete(store) }
      let before = oracle.keptCount
      await enqueue(3, in: LoadClock.lanes[0], store)
      if oracle.keptCount != before + 3 { oracle.note("the outbox does not go on when the fault is over") }
    }
    store = nil
    taken = []
    disk = try disk.salvage(FaultyDisk.Luck.allCases[nth % 3], seed: UInt64(nth))
    let opened = try SQLiteOutboxStore.open(at: path, clock: clock)
    if let place = opened.setAside { oracle.note("a sound outbox was set aside at \(place)") }
    oracle.inspect(try await PowerLossRun.items(in: opened.store))
    try await opened.store.recover()
    for problem in try OutboxCheck.problems(at: path) { oracle.note(problem) }
    for _ in 0..<30 where oracle.openCount > 0 || !taken.isEmpty { await complete(opened.store) }
    oracle.inspectEnd(try await PowerLossRun.items(in: opened.store))
  }
}

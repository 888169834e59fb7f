import HearthCore
import Synchronization

/// Records what callers were told and what an idempotent server did, and notes each contradiction.
final class Oracle: Sendable {
  /// A request that somebody wants delivered: the `number`th of its lane.
  struct Order: Hashable, Sendable, CustomStringConvertible {
    var lane: String
    var number: Int
    /// The same for all orders of one call.
    var call: Int

    var description: String { "\(lane)/\(number)" }
  }

  enum Fate: Sendable {
    /// The store said that it is stored.
    case kept
    /// It was claimed, and its request may have been sent.
    case taken
    /// Its outcome was given to the store, which has not answered yet.
    case reported
  }

  private struct State {
    var orders: [String: Order] = [:]
    /// The fates of the orders that are not done.
    var fates: [String: Fate] = [:]
    /// The orders for which the store said that their delivery is written.
    var done: Set<String> = []
    var unanswered: [Int: [String]] = [:]
    /// The orders that the store said it has not accepted.
    var refused: Set<String> = []
    var effects: [String: String] = [:]
    var lastEffect: [String: Int] = [:]
    var problems: [String] = []
    var count = 0
  }

  private let state = Mutex(State())

  var problems: [String] { state.withLock { $0.problems } }
  /// How many orders were ever kept.
  var keptCount: Int { state.withLock { $0.count } }
  var effectCount: Int { state.withLock { $0.effects.count } }
  /// How many are kept and not done.
  var openCount: Int { state.withLock { $0.fates.count } }

  func note(_ problem: String) {
    state.withLock { $0.problems.append(problem) }
  }

  // MARK: - Callers

  func asks(_ orders: [(id: String, order: Order)]) {
    state.withLock { state in
      for (id, order) in orders {
        state.orders[id] = order
        state.refused.remove(id)
        state.unanswered[order.call, default: []].append(id)
      }
    }
  }

  func kept(call: Int, _ receipts: [OutboxReceipt]) {
    state.withLock { state in
      state.unanswered[call] = nil
      // A delivery may have been faster than this call, and a duplicate is already known.
      for receipt in receipts where !receipt.isDuplicate && state.fates[receipt.item.id] == nil {
        if !state.done.contains(receipt.item.id) { state.fates[receipt.item.id] = .kept }
      }
      state.count += receipts.count
    }
  }

  func refused(call: Int) {
    state.withLock { state in
      for id in state.unanswered.removeValue(forKey: call) ?? [] { state.refused.insert(id) }
    }
  }

  // MARK: - Deliveries

  func taken(_ id: String) {
    state.withLock { state in
      if state.done.contains(id) { state.problems.append("\(id) was taken after it was done") }
      state.fates[id] = .taken
    }
  }

  func reported(_ id: String) {
    state.withLock { $0.fates[id] = .reported }
  }

  /// The store has answered. `isDone` is true if the item is delivered.
  func finished(_ id: String, isDone: Bool) {
    state.withLock { state in
      state.fates[id] = isDone ? nil : .kept
      if isDone { state.done.insert(id) }
    }
  }

  /// The server has an effect when it first sees a key, and gives the same answer each time after that.
  func serve(_ delivery: Delivery) {
    state.withLock { state in
      guard let key = delivery.request.idempotencyKey, let order = state.orders[delivery.item.id] else {
        state.problems.append("\(delivery.item.id) was never asked for")
        return
      }
      guard delivery.request.url.target == "/\(order)", delivery.request.body == order.body else {
        state.problems.append("\(order) reached the server with another content")
        return
      }
      if let known = state.effects[order.description] {
        if known != key { state.problems.append("\(order) had an effect under \(known) and again under \(key)") }
        return
      }
      state.effects[order.description] = key
      guard order.isInLane else { return }
      if let last = state.lastEffect[order.lane], last >= order.number {
        state.problems.append("\(order) came after \(order.lane)/\(last)")
      }
      state.lastEffect[order.lane] = order.number
    }
  }

  // MARK: - After the power came back

  /// Called when the store was opened again while its disk has a fault: claimed items are in their places again. A
  /// commit whose fsync failed is in the log nevertheless, and is valid now if none came after it.
  func reopened() {
    state.withLock { state in
      for id in state.fates.keys { state.fates[id] = .kept }
      state.refused = []
    }
  }

  /// Compares the store's items with what the store said.
  func inspect(_ items: [String: OutboxItem]) {
    state.withLock { state in
      for (id, fate) in state.fates {
        let name = state.orders[id]?.description ?? id
        let found = items[id]?.state
        switch fate {
        case .kept:
          if found != .pending, found != .waiting { state.problems.append("\(name) was kept and is \(found.word)") }
        case .taken:
          if found != .pending, found != .waiting { state.problems.append("\(name) was taken and is \(found.word)") }
        case .reported:
          // Delivered items may have been swept.
          if found != nil, found != .pending, found != .waiting, found != .delivered {
            state.problems.append("\(name) was reported and is \(found.word)")
          }
          if found == nil, state.effects[name] == nil { state.problems.append("\(name) was reported and is lost") }
        }
      }
      for (id, item) in items where item.state != .delivered && state.done.contains(id) {
        state.problems.append("\(id) was done and is \(item.state)")
      }
      for id in items.keys where state.refused.contains(id) {
        state.problems.append("\(state.orders[id]?.description ?? id) was refused and is there")
      }
      for ids in state.unanswered.values {
        let present = ids.filter { items[$0] != nil || state.effects[state.orders[$0]?.description ?? ""] != nil }
        if !present.isEmpty, present.count < ids.count { state.problems.append("half of a call was kept: \(present)") }
      }
      state.unanswered = [:]
      // Claimed items go back to their places now.
      for (id, item) in items where item.state.isActive { state.fates[id] = .kept }
      let gone = state.fates.filter { items[$0.key] == nil || items[$0.key]?.state == .delivered }
      for id in gone.keys { state.fates[id] = nil }
    }
  }

  /// Checks that everything that was kept has had its effect.
  func inspectEnd(_ items: [String: OutboxItem]) {
    state.withLock { state in
      for (id, fate) in state.fates {
        state.problems.append("\(state.orders[id]?.description ?? id) is \(fate) in the end")
      }
      for id in state.done {
        guard let order = state.orders[id], state.effects[order.description] == nil else { continue }
        state.problems.append("\(order) had no effect")
      }
      for item in items.values where item.state != .delivered {
        state.problems.append("\(item.id) is \(item.state) in the end")
      }
    }
  }
}

extension Oracle.Order {
  var isInLane: Bool { !lane.hasPrefix("loose") }

  /// A different content for each order, from nothing to several pages.
  var body: [UInt8] {
    let count = number % 17 == 0 ? 20_000 : number % 7 * 300
    return Array(repeating: UInt8(truncatingIfNeeded: number &* 31), count: count)
  }
}

extension OutboxItem.State? {
  fileprivate var word: String { self?.rawValue ?? "lost" }
}

import HearthCore
import HearthStorage
import TestSupport
import Testing

@Suite("The states of an item")
struct StateTransitionTests {
  private typealias State = OutboxItem.State

  @Test("Every change of state in the store is listed, and every listed one happens")
  func transitions() async throws {
    try await inTurn {
      try await withStore { outbox in
        var random = SeededGenerator(seed: 7)
        var claimed: [Delivery] = []
        var states: [String: State] = [:]
        // In the order of the store, because the identifiers differ from run to run.
        var ids: [String] = []
        var seen: [State: Set<State>] = [:]
        for _ in 0..<1000 {
          try await step(&outbox, &claimed, ids: ids, &random)
          var now: [String: State] = [:]
          ids = []
          var cursor: String?
          repeat {
            let page = try await outbox.store.list(OutboxQuery(limit: 1000, cursor: cursor))
            for item in page.items {
              now[item.id] = item.state
              ids.append(item.id)
            }
            cursor = page.cursor
          } while cursor != nil
          for (id, state) in now {
            guard let old = states[id] else {
              #expect(state == .pending || state == .waiting)
              continue
            }
            if old != state { seen[old, default: []].insert(state) }
          }
          states = now
        }
        for state in State.allCases { #expect(seen[state] ?? [] == state.transitions, "from \(state)") }
      }
    }
  }

  @Test("The states that allow cancelling are those that may become cancelled", arguments: OutboxItem.State.allCases)
  func cancellable(_ state: OutboxItem.State) {
    #expect(state.mayBeCancelled == state.transitions.contains(.cancelled))
  }

  /// One call on the store at a time. Calls that finish deliveries claim none, so that no change of state is missed.
  private func step(
    _ outbox: inout StoreFixture, _ claimed: inout [Delivery], ids: [String], _ random: inout SeededGenerator
  ) async throws {
    let now = outbox.now
    switch Int.random(in: 0..<13, using: &random) {
    case 0...1:
      let wait = Int64.random(in: 1...90_000, using: &random)
      try await outbox.add(
        Sample.draft(
          lane: ["a", "b", nil].randomElement(using: &random)!, replaceKey: Bool.random(using: &random) ? "key" : nil,
          notBefore: Int.random(in: 0..<4, using: &random) == 0 ? now + .seconds(wait) : nil,
          expiresAt: Int.random(in: 0..<4, using: &random) == 0 ? now + .seconds(wait + 1) : nil))
    case 2...4: claimed += try await outbox.claim(limit: 2).deliveries
    case 5...7:
      guard let delivery = claimed.randomElement(using: &random) else { return }
      claimed.removeAll { $0.number == delivery.number }
      let outcomes: [DeliveryOutcome] = [
        .delivered(status: 200), outbox.wait(60), outbox.wait(60, unknown: true, status: nil),
        .dead(.rejected, status: 400, error: "no"), .released, .unreachable(probeIn: .zero, status: nil, error: "no"),
        .needsStepUp(status: 401, error: "no"),
      ]
      _ = try await outbox.finish(delivery, outcomes.randomElement(using: &random)!)
    case 8, 9:
      guard let id = ids.randomElement(using: &random) else { return }
      let change = [OutboxChange.cancel, .retry, .retry].randomElement(using: &random)!
      _ = try? await outbox.store.change(id, change)
    case 10: outbox.now = now + .seconds(Int64.random(in: 1...90_000, using: &random))
    case 11: _ = try await outbox.store.expire(limit: 3, by: now)
    default:
      // In flight only within this step: the stored state does not change.
      for delivery in claimed { _ = outbox.begin(delivery) }
      claimed = []
      try await outbox.store.recover()
    }
  }
}

extension OutboxItem.State {
  /// The stored states that may follow this one.
  fileprivate var transitions: Set<Self> {
    switch self {
    case .pending: [.waiting, .delivered, .held, .dead, .superseded, .cancelled]
    case .waiting: [.pending, .delivered, .held, .dead, .superseded, .cancelled]
    case .inFlight: []
    case .held: [.pending, .dead, .superseded, .cancelled]
    case .dead: [.pending, .superseded, .cancelled]
    case .delivered, .cancelled, .superseded: []
    }
  }
}

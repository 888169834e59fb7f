import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// What must be true of the rows, under random operations.
@Suite struct RandomOperationsTests {
  @Test("Counts, contents and heads match the rows after every operation", arguments: 1...(isThorough ? 40 : 2))
  func random(_ seed: UInt64) async throws {
    try await inTurn {
      try await withStore { outbox in
        var random = SeededGenerator(seed: seed)
        var taken: [Delivery] = []
        var added = 0
        for step in 0..<300 {
          let subject = [Sample.alice, Sample.bob, nil].randomElement(using: &random) ?? nil
          outbox.now = outbox.now + .milliseconds(Int64.random(in: 0...2000, using: &random))
          switch Int.random(in: 0..<16, using: &random) {
          case 0...4:
            let lane = ["a", "b", nil].randomElement(using: &random) ?? nil
            let isReplacing = Int.random(in: 0..<6, using: &random) == 0
            try await outbox.add(
              Sample.draft(
                "/\(step)", body: String(repeating: "x", count: Int.random(in: 0...50, using: &random)), lane: lane,
                replaceKey: isReplacing ? "r" : nil,
                notBefore: Int.random(in: 0..<8, using: &random) == 0 ? outbox.now + .seconds(3) : nil,
                expiresAt: Int.random(in: 0..<8, using: &random) == 0 ? outbox.now + .seconds(20) : nil),
              subject: subject)
            added += 1
          case 5...7:
            let claim = try await outbox.claim(
              subject: subject, limit: Int.random(in: 1...6, using: &random), follows: Bool.random(using: &random),
              trusted: Bool.random(using: &random))
            taken += claim.deliveries
            for claim in claim.claimed.claims {
              for delivery in claim.deliveries.prefix(Int.random(in: 0...2, using: &random)) {
                #expect(outbox.begin(delivery))
              }
            }
          case 8...9:
            // A run ends with its first item that does not leave the lane. The rest returns to the lane.
            taken.shuffle(using: &random)
            var settled: [Settlement] = []
            for delivery in taken {
              let outcomes: [DeliveryOutcome] = [
                .delivered(status: 200), .delivered(status: 200), outbox.wait(2), .released,
                .dead(.rejected, status: 400, error: "no"),
                .unreachable(probeIn: .zero, status: nil, error: "no"),
              ]
              settled.append(outbox.settlement(delivery, outcomes.randomElement(using: &random) ?? .released))
            }
            taken = []
            _ = try await outbox.store.exchange(settled, releasing: [], claiming: [])
          case 10:
            let items = try await outbox.store.list(OutboxQuery(limit: 1000)).items
            if let item = items.randomElement(using: &random) {
              let change: OutboxChange = Bool.random(using: &random) ? .cancel : .retry
              _ = try? await outbox.store.change(item.id, change)
            }
          case 14...15:
            // Refused if the key belongs to another content.
            let key = Int.random(in: 0...2, using: &random)
            let body = Int.random(in: 0...4, using: &random) == 0 ? "other" : "same"
            let lane = Bool.random(using: &random) ? "a" : nil
            _ = try? await outbox.add(
              Sample.draft("/key-\(key)", body: body, lane: lane, key: "\(key)"), subject: subject)
          case 11:
            taken = []
            try await outbox.store.recover()
          case 12:
            let user = Bool.random(using: &random) ? Sample.alice : Sample.bob
            _ = try await outbox.store.bind(
              Sample.work, to: user, formerly: nil, adopts: Bool.random(using: &random),
              limit: Int.random(in: 1...9, using: &random))
          default:
            _ = try await outbox.store.expire(limit: 3, by: outbox.now)
            let settings = OutboxSettings.keeping(delivered: .seconds(60), dead: .seconds(90), maxFinished: 50)
            _ = try await outbox.store.prune(keeping: settings, limit: 5, by: outbox.now)
          }
          if step.isMultiple(of: 10) {
            try outbox.expectSound()
            try await expectConsistentStates(outbox)
          }
        }
        _ = try await outbox.store.recover()
        #expect(added > 0)
      }
    }
  }

  /// Each state's list has the items that are shown in it, and the counts match.
  private func expectConsistentStates(_ outbox: StoreFixture) async throws {
    let store = outbox.store
    let all = try await store.list(OutboxQuery(limit: 1000)).items
    for state in OutboxItem.State.allCases {
      let listed = try await store.list(OutboxQuery(state: state, limit: 1000)).items
      #expect(listed == all.filter { $0.state == state }, "\(state)")
    }
    let stats = try await store.stats(of: nil)
    let counted = [stats.pending, stats.inFlight, stats.waiting, stats.held, stats.delivered, stats.dead]
    let states: [OutboxItem.State] = [.pending, .inFlight, .waiting, .held, .delivered, .dead]
    #expect(counted == states.map { state in all.count { $0.state == state } })
  }
}

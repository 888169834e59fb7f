import TestSupport
import Testing

@testable import HearthCore

@Suite("Two items of one user with one idempotency key") struct KeyedItemTests {
  private static let now = Sample.start

  /// The states of the two items in the order of their positions, and which of them ends (0 for neither).
  struct Pair: Sendable, CustomStringConvertible {
    let first: Standing
    let second: Standing
    let ended: Int

    var description: String { "\(first), then \(second)" }
  }

  enum Standing: CaseIterable, Sendable {
    case unsent, unreachable, refused, unknown, begun, review, damaged, delivered, rejected, cancelled
  }

  private static func item(_ standing: Standing, at position: Int64) -> KeyedItem {
    var item = KeyedItem(ItemProgress(at: now), position: position, hasBegun: standing == .begun)
    func wait(since: Timestamp?) -> DeliveryOutcome {
      .waiting(
        DeliveryOutcome.Wait(
          duration: .zero, unknownFor: since.map { now - $0 }, isConflict: false, status: 503, error: "no"))
    }
    switch standing {
    case .unsent, .begun: break
    case .unreachable: item.progress.settle(.unreachable(probeIn: .zero, status: nil, error: "no"), at: now)
    case .refused: item.progress.settle(wait(since: nil), at: now)
    case .unknown: item.progress.settle(wait(since: now), at: now)
    case .review: item.progress.leaveLane(.needsReview, at: now)
    case .damaged: item.progress.leaveLane(.damaged, at: now)
    case .delivered: item.progress.settle(.delivered(status: 200), at: now)
    case .rejected: item.progress.settle(.dead(.rejected, status: 400, error: "no"), at: now)
    case .cancelled: _ = item.progress.cancel(at: now)
    }
    return item
  }

  @Test(
    "the one that may have been carried out stays, otherwise the earlier; only an item that was never sent ends",
    arguments: [
      Pair(first: .unsent, second: .unsent, ended: 2), Pair(first: .unsent, second: .unreachable, ended: 2),
      Pair(first: .refused, second: .unsent, ended: 2), Pair(first: .unsent, second: .refused, ended: 0),
      Pair(first: .unsent, second: .unknown, ended: 1), Pair(first: .unknown, second: .unsent, ended: 2),
      Pair(first: .unsent, second: .begun, ended: 1), Pair(first: .begun, second: .unreachable, ended: 2),
      Pair(first: .unsent, second: .review, ended: 1), Pair(first: .unsent, second: .delivered, ended: 1),
      Pair(first: .delivered, second: .unsent, ended: 2), Pair(first: .unknown, second: .begun, ended: 0),
      Pair(first: .damaged, second: .unsent, ended: 0), Pair(first: .unsent, second: .damaged, ended: 0),
      Pair(first: .rejected, second: .unsent, ended: 0), Pair(first: .cancelled, second: .unsent, ended: 0),
      Pair(first: .unsent, second: .cancelled, ended: 0), Pair(first: .delivered, second: .delivered, ended: 0),
    ])
  func surplus(_ pair: Pair) {
    let (first, second) = (Self.item(pair.first, at: 1), Self.item(pair.second, at: 2))
    let ended: [KeyedItem.Duplicate?] = [nil, .own, .joining]
    #expect(KeyedItem.duplicate(own: first, joining: second) == ended[pair.ended])
    let swapped: [KeyedItem.Duplicate?] = [nil, .joining, .own]
    #expect(KeyedItem.duplicate(own: second, joining: first) == swapped[pair.ended])
  }

  @Test(
    "with different contents the unsent one is held, otherwise the joining one; neither if both have ended",
    arguments: [
      Pair(first: .unsent, second: .unsent, ended: 2), Pair(first: .begun, second: .unsent, ended: 2),
      Pair(first: .delivered, second: .unsent, ended: 2), Pair(first: .rejected, second: .unsent, ended: 2),
      Pair(first: .review, second: .unknown, ended: 2), Pair(first: .unsent, second: .begun, ended: 1),
      Pair(first: .unsent, second: .refused, ended: 1), Pair(first: .unsent, second: .delivered, ended: 1),
      Pair(first: .refused, second: .refused, ended: 2), Pair(first: .unsent, second: .damaged, ended: 0),
      Pair(first: .delivered, second: .begun, ended: 0), Pair(first: .delivered, second: .rejected, ended: 0),
    ])
  func contents(_ pair: Pair) {
    let held: [KeyedItem.Duplicate?] = [nil, .own, .joining]
    let (own, joining) = (Self.item(pair.first, at: 1), Self.item(pair.second, at: 2))
    #expect(KeyedItem.doubtful(own: own, joining: joining) == held[pair.ended])
  }
}

package import HearthCore
import Synchronization

/// Records the commits of a store in order.
package final class CommitLog: Sendable {
  private let noted = Mutex<[OutboxCommit]>([])

  package init(of store: any OutboxStore) {
    store.observe { [weak self] commit in self?.noted.withLock { $0.append(commit) } }
  }

  package var commits: [OutboxCommit] { noted.withLock { $0 } }

  /// The commits since the last call.
  package func take() -> [OutboxCommit] {
    noted.withLock { noted in
      defer { noted = [] }
      return noted
    }
  }
}

extension [OutboxCommit] {
  /// The changed items, in their new state.
  package var changed: [OutboxItem] {
    flatMap(\.changes).compactMap { change in
      switch change {
      case .enqueued: nil
      case .changed(let item): item
      }
    }
  }

  package var enqueued: [OutboxItem] {
    flatMap(\.changes).compactMap { change in
      switch change {
      case .enqueued(let item): item
      case .changed: nil
      }
    }
  }

  /// The counts of an account that were published last.
  package func stats(of account: AccountName) -> OutboxStats? { compactMap { $0.stats[account] }.last }

  /// The kinds of items that became ready.
  package func ready(_ account: AccountName) -> OutboxKinds {
    reduce(into: []) { $0.formUnion($1.ready[account] ?? []) }
  }
}

extension [LaneClaim] {
  package var deliveries: [Delivery] { flatMap(\.deliveries) }

  /// The outcomes of all deliveries of these claims.
  package func settled(hasLeft: Bool = false, _ outcome: (Delivery) -> DeliveryOutcome) -> [Settlement] {
    flatMap { claim in
      claim.deliveries.map {
        Settlement(epoch: claim.epoch, number: $0.number, outcome: outcome($0), hasLeft: hasLeft)
      }
    }
  }
}

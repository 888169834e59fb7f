import HearthControl
import HearthCore

extension HearthClient {
  /// Returns a sequence that starts with a snapshot and continues with each new event in order. The sequence ends when
  /// the task that reads it is cancelled.
  ///
  /// The sequence has its own connection. If the daemon restarts, the sequence reconnects, with pauses of up to five
  /// seconds between attempts. If a reader falls too far behind, events are dropped. In both cases, the sequence
  /// continues with a ``Event/snapshot(sessions:outbox:)``, so readers never keep outdated state.
  ///
  /// If `account` is set, the sequence contains only events of that account and events of the daemon itself.
  public func events(of account: String? = nil) -> Events {
    Events(socket: socket, timeout: timeout, account: account)
  }

  /// A sequence of events. Each iterator has its own subscription.
  public struct Events: AsyncSequence, Sendable {
    public typealias Element = Event

    let socket: String
    let timeout: Duration
    let account: String?

    public func makeAsyncIterator() -> Iterator {
      Iterator(feed: EventFeed(path: socket, timeout: timeout, account: account))
    }

    public struct Iterator: AsyncIteratorProtocol {
      let feed: EventFeed

      /// Waits for the next event and returns it, or returns `nil` once the task is cancelled.
      public mutating func next() async -> Event? { await feed.next() }
    }
  }
}

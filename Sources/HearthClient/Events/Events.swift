import HearthControl
import HearthCore

extension HearthClient {
  /// Returns all events from now on: a snapshot, then each event, in order. The sequence ends when the reading task is
  /// cancelled.
  ///
  /// The events have a connection of their own. When the daemon restarts, the sequence connects and subscribes again,
  /// with growing pauses of up to five seconds. A reader that falls too far behind misses events. In both cases the
  /// next event is a ``Event/snapshot(sessions:outbox:)``, so that no reader keeps an outdated state and no event comes
  /// twice.
  ///
  /// With `account`, only events of this account and of the daemon are returned.
  public func events(of account: String? = nil) -> Events {
    Events(socket: socket, timeout: timeout, account: account)
  }

  /// A sequence of events. Each iteration has its own subscription.
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

      /// Returns the next event, however long it takes, or `nil` when the task is cancelled.
      public mutating func next() async -> Event? { await feed.next() }
    }
  }
}

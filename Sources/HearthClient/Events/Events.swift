import HearthControl
import HearthCore

extension HearthClient {
  /// What happens from now on: a snapshot, then each event, in order. It ends when the task that reads it is cancelled.
  ///
  /// It has a connection of its own, and reads from it as fast as it is asked to. When the daemon is restarted, it connects
  /// and subscribes anew, with growing pauses of up to five seconds; a reader that falls too far behind misses events. In
  /// both cases a ``Event/snapshot(sessions:outbox:)`` comes next, so that nothing is known wrongly and no event comes twice.
  ///
  /// `account`: of that one alone, and of the daemon.
  public func events(of account: String? = nil) -> Events {
    Events(socket: socket, timeout: timeout, account: account)
  }

  /// Events, for as long as somebody reads them. Each iteration subscribes for itself.
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

      /// The next event, however long it takes; nil when the task is cancelled.
      public mutating func next() async -> Event? { await feed.next() }
    }
  }
}

package import HearthControl
import HearthCore

/// Follows the daemon's events over a client's connection: a snapshot, then each notification. Where some are missing, it
/// subscribes anew, and a snapshot comes again.
package struct EventFollower: Sendable {
  package enum Step: Sendable {
    /// How things are, before all that follows.
    case snapshot(Subscription)
    case notification(Notification)
  }

  /// While nothing comes, the daemon is asked this often whether it is there.
  private static let silence: Duration = .seconds(30)

  private let call: Subscribe
  private var subscription: String?
  private var seq = 0
  /// The daemon counts all that happens; who has asked for a part of it cannot tell by the numbers what is missing.
  private let getsEverything: Bool

  package init(_ call: Subscribe) {
    self.call = call
    getsEverything = call.account == nil && call.topics.count == EventTopic.allCases.count
  }

  /// What comes next, however long that takes; nil when `limit` is over first. After `events.closed` and after a gap comes
  /// a snapshot.
  package mutating func next(
    from daemon: inout ControlClient, within limit: Duration? = nil
  ) throws(ControlClient.Failure) -> Step? {
    while true {
      guard subscription != nil else { return .snapshot(try subscribe(daemon: &daemon)) }
      do throws(ControlClient.Failure) {
        guard let notification = try daemon.nextNotification(within: limit ?? min(Self.silence, daemon.timeout)) else {
          throw .disconnected
        }
        if let step = try take(notification, &daemon) { return step }
      } catch .timedOut {
        if limit != nil { return nil }
        _ = try daemon.call(GetInfo())
      }
    }
  }

  private mutating func subscribe(daemon: inout ControlClient) throws(ControlClient.Failure) -> Subscription {
    let value = try daemon.call(call).value
    (subscription, seq) = (value.id, value.seq)
    return value
  }

  /// It is nil for what belongs to a subscription that is over.
  private mutating func take(
    _ notification: Notification, _ daemon: inout ControlClient
  ) throws(ControlClient.Failure) -> Step? {
    guard notification.params["subscription"]?.string == subscription, let number = notification.params["seq"]?.int,
      number > seq
    else { return nil }
    if getsEverything, number != seq + 1, let former = subscription {
      _ = try daemon.call(Unsubscribe(former))
      return .snapshot(try subscribe(daemon: &daemon))
    }
    seq = number
    if notification.event == .eventsClosed { subscription = nil }
    return .notification(notification)
  }
}

package import HearthControl
import HearthCore

/// Follows the daemon's events on a connection. The first step is a snapshot, and the following ones are notifications.
/// After `events.closed` or a gap, the follower subscribes again and yields another snapshot.
package struct EventFollower: Sendable {
  package enum Step: Sendable {
    /// The state before the notifications that follow.
    case snapshot(Subscription)
    case notification(Notification)
  }

  /// The time without events after which the follower checks that the daemon still responds.
  private static let silence: Duration = .seconds(30)

  private let call: Subscribe
  private var subscription: String?
  private var seq = 0
  /// Whether the subscription covers all accounts and topics. Only then does a gap in the sequence numbers mean that
  /// events were lost, because the daemon uses one sequence for all events.
  private let getsEverything: Bool

  package init(_ call: Subscribe) {
    self.call = call
    getsEverything = call.account == nil && call.topics.count == EventTopic.allCases.count
  }

  /// Returns the next step, or `nil` if none arrives within `limit`. After `events.closed` or a gap, the next step is a
  /// snapshot.
  package mutating func next(from daemon: inout ControlClient, within limit: Duration? = nil) throws -> Step? {
    while true {
      guard subscription != nil else { return .snapshot(try subscribe(daemon: &daemon)) }
      do {
        guard let notification = try daemon.nextNotification(within: limit ?? min(Self.silence, daemon.timeout)) else {
          throw ControlClient.Failure.disconnected
        }
        if let step = try take(notification, &daemon) { return step }
      } catch ControlClient.Failure.timedOut {
        if limit != nil { return nil }
        _ = try daemon.call(GetInfo())
      }
    }
  }

  private mutating func subscribe(daemon: inout ControlClient) throws -> Subscription {
    let value = try daemon.call(call).value
    (subscription, seq) = (value.id, value.seq)
    return value
  }

  /// Returns the step for a notification, or `nil` if the notification is old or belongs to an earlier subscription.
  private mutating func take(_ notification: Notification, _ daemon: inout ControlClient) throws -> Step? {
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

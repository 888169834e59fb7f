import HearthControl
import Synchronization

/// Sends the notifications of one subscription to its client.
final class ControlSink: NotificationSink {
  private let connection: ControlConnection
  private let unsent = Atomic<Int>(0)

  init(connection: ControlConnection) {
    self.connection = connection
  }

  var pending: Int { unsent.load(ordering: .relaxed) }

  func send(_ lines: NotificationLines) { connection.send(lines, of: self) }

  func written(_ count: Int) { unsent.add(count, ordering: .relaxed) }
  func sent(_ count: Int) { unsent.subtract(count, ordering: .relaxed) }
}

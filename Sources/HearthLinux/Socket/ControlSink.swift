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

  func send(_ line: [UInt8]) { connection.send(line, of: self) }

  func isWritten() { unsent.add(1, ordering: .relaxed) }
  func isSent() { unsent.subtract(1, ordering: .relaxed) }
}

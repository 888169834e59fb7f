package import HearthControl
import Synchronization

/// A connected client that reads its lines when the test says so.
package final class RecordingPeer: ControlPeer {
  package final class Sink: NotificationSink {
    private let lines = Mutex<(sent: [JSON], writes: Int, pending: Int, isTaking: Bool)>(([], 0, 0, true))

    package var pending: Int { lines.withLock(\.pending) }

    package func send(_ written: NotificationLines) {
      let sent = written.bytes.split(separator: UInt8(ascii: "\n")).map { (try? JSON(parsing: Array($0))) ?? .null }
      lines.withLock { lines in
        lines.sent += sent
        lines.writes += 1
        if !lines.isTaking { lines.pending += written.count }
      }
    }

    /// Reads nothing from the socket from now on.
    package func stall() { lines.withLock { $0.isTaking = false } }

    package var sent: [JSON] { lines.withLock(\.sent) }
    package var writes: Int { lines.withLock(\.writes) }
  }

  package let id: ConnectionID
  package let sink = Sink()

  package init(_ number: UInt64 = 1) {
    id = ConnectionID(number)
  }

  package func openSink() -> any NotificationSink { sink }
}

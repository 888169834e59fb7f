package import HearthControl
import Synchronization

/// A connected client that takes its lines when the test says so.
package final class RecordingPeer: ControlPeer {
  package final class Sink: NotificationSink {
    private let lines = Mutex<(sent: [JSON], pending: Int, isTaking: Bool)>(([], 0, true))

    package var pending: Int { lines.withLock(\.pending) }

    package func send(_ line: [UInt8]) {
      let json = try? JSON(parsing: Array(line.dropLast()))
      lines.withLock { lines in
        lines.sent.append(json ?? .null)
        if !lines.isTaking { lines.pending += 1 }
      }
    }

    /// From now on nothing is taken from the socket.
    package func stall() { lines.withLock { $0.isTaking = false } }

    package var sent: [JSON] { lines.withLock(\.sent) }
  }

  package let id: ConnectionID
  package let sink = Sink()

  package init(_ number: UInt64 = 1) {
    id = ConnectionID(number)
  }

  package func openSink() -> any NotificationSink { sink }
}

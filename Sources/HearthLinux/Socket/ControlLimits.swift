/// What the control server allows its clients.
package struct ControlLimits: Hashable, Sendable {
  /// The bytes of a line, without its line break.
  package var line: Int
  package var connections: Int
  /// How many calls of one connection run at once; others wait.
  package var runningCalls = 32
  /// How long a client may take to finish a line that it has begun.
  package var lineTime: Duration = .seconds(10)
  /// Bytes that a client has not read; from here on none of its calls is begun.
  package var pausingBacklog = 1 << 20
  /// Bytes that a client has not read; from here on another write closes the connection.
  package var maximumBacklog = 16 << 20
  /// Bytes that all clients together have not read; beyond it the connection with the most is closed.
  package var totalBacklog = 64 << 20
  /// How long running calls may go on during a shutdown before they are answered with -32000 and cancelled: as long as a
  /// request to an API that was sent for one of them (`OutboxService.shutdown`).
  package var shutdownGrace: Duration = .seconds(6)

  /// As many as are ever served at once (contract, section 5).
  package static let mostConnections = 256

  /// `maximumBody` is that of an outbox item, in bytes. A line may be 1 MiB longer than its Base64 encoding.
  package init(maximumBody: Int = 1 << 20, connections: Int = ControlLimits.mostConnections) {
    self.connections = connections
    line = (1 << 20) + (maximumBody + 2) / 3 * 4
  }
}

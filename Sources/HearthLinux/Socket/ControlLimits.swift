/// The limits that the control server sets for its clients.
package struct ControlLimits: Hashable, Sendable {
  /// The maximum length of a line in bytes, without its line break.
  package var line: Int
  package var connections: Int
  /// How many calls of one connection run at once. Others wait.
  package var runningCalls = 32
  /// How long a client may take to finish a line that it has begun.
  package var lineTime: Duration = .seconds(10)
  /// The number of unread bytes from which the server starts no more of the client's calls.
  package var pausingBacklog = 1 << 20
  /// The number of unread bytes from which another write closes the connection.
  package var maximumBacklog = 16 << 20
  /// The number of unread bytes of all clients together above which the connection with the most is closed.
  package var totalBacklog = 64 << 20
  /// How long running calls may continue during a shutdown before they are answered with -32000 and cancelled: as long
  /// as a request to an API that was sent for one of them (`OutboxService.shutdown`).
  package var shutdownGrace: Duration = .seconds(6)

  /// The maximum number of connections at once (contract, section 5).
  package static let mostConnections = 256

  /// `maximumBody` is the limit for an outbox item, in bytes. A line may be 1 MiB longer than its Base64 encoding.
  package init(maximumBody: Int = 1 << 20, connections: Int = ControlLimits.mostConnections) {
    self.connections = connections
    line = (1 << 20) + (maximumBody + 2) / 3 * 4
  }
}

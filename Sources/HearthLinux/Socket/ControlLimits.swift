/// The control server's limits for its clients.
package struct ControlLimits: Hashable, Sendable {
  /// Maximum length of a line in bytes, without the line break.
  package var line: Int
  package var connections: Int
  /// Maximum number of calls that one connection can run at the same time. Further calls wait.
  package var runningCalls = 32
  /// How long a client can take to finish a line.
  package var lineTime: Duration = .seconds(10)
  /// Number of unread bytes at which the server stops starting the client's calls.
  package var pausingBacklog = 1 << 20
  /// Number of unread bytes at which the next write closes the connection.
  package var maximumBacklog = 16 << 20
  /// Total number of unread bytes above which the server closes the connection with the most unread bytes.
  package var totalBacklog = 64 << 20
  /// How long running calls can continue during a shutdown before they are cancelled and answered with error -32000.
  /// Equal to the time allowed for API requests in progress (`OutboxService.shutdown`).
  package var shutdownGrace: Duration = .seconds(6)

  /// The default and highest value of `connections`.
  package static let mostConnections = 256

  /// `maximumBody` is the maximum size of an outbox item's body, in bytes. A line can be 1 MiB longer than the Base64
  /// encoding of such a body.
  package init(maximumBody: Int = 1 << 20, connections: Int = ControlLimits.mostConnections) {
    self.connections = connections
    line = (1 << 20) + (maximumBody + 2) / 3 * 4
  }
}

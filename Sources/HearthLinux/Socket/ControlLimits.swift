/// What the control server allows its clients.
package struct ControlLimits: Hashable, Sendable {
  /// A line's bytes, without its end.
  package var line: Int
  package var connections = 256
  /// Calls running at once on one connection; more wait.
  package var runningCalls = 32
  /// To finish a line once begun.
  package var lineTime: Duration = .seconds(10)
  /// Bytes written and not taken by the client, from which on no new calls of its are begun.
  package var easyBacklog = 1 << 20
  /// Bytes written and not taken by the client, from which on a further write closes the connection.
  package var maximumBacklog = 16 << 20
  /// For running calls to end on shutdown before they are answered -32000 and cancelled.
  package var shutdownGrace: Duration = .seconds(4)

  /// 1 MiB and 4/3 (its Base64) of the largest body that the outbox takes.
  package init(maximumBody: Int = 1 << 20) {
    line = (1 << 20) + (maximumBody + 2) / 3 * 4
  }
}

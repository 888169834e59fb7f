/// Identifies a client's connection. Numbers are not reused while the daemon is running.
package struct ConnectionID: Hashable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// Implements the protocol's methods for all connections. The server implements the wire format.
package protocol ControlHandler: Sendable {
  /// Handles a call. Calls on one connection run concurrently. They continue if the client disconnects. They are
  /// cancelled if the daemon stops, or if it disconnects the client because all clients together leave too many
  /// responses unread. If the call is a notification (`request.id` is `nil`), its result is discarded, but the
  /// response's `start` is still called.
  func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse

  /// Returns the result if it is available immediately, or `nil` if the call must be passed to `handle`. Must not
  /// block.
  func resultAtOnce(of request: Request) -> JSON?

  /// Returns whether the client makes the call only for its result. The server drops such a call if the client
  /// disconnects before the call starts.
  func isReadOnly(_ request: Request) -> Bool

  /// Called when the server itself sends an error: it refuses a call or a connection, or ends a running call during a
  /// shutdown. `request` is `nil` if there is no call or it is invalid. Must not block.
  func refused(_ request: Request?, _ error: RPCError)

  /// Called once per connection, before its first call. Must not block.
  func connectionOpened(_ connection: ConnectionID)

  /// Called once per connection, as soon as its client has disconnected. Calls may still be running. Must not block.
  func connectionLost(_ connection: ConnectionID)

  /// Called once per connection, after its last call has returned.
  func connectionClosed(_ connection: ConnectionID) async
}

extension ControlHandler {
  package func resultAtOnce(of _: Request) -> JSON? { nil }
  package func isReadOnly(_: Request) -> Bool { false }
  package func refused(_: Request?, _: RPCError) {}
  package func connectionOpened(_: ConnectionID) {}
  package func connectionLost(_: ConnectionID) {}
}

package enum ControlResponse: Sendable {
  case result(JSON)
  case failure(RPCError)
  /// The snapshot of a new subscription. `start` is called once, immediately after the answer has been queued on the
  /// connection. Until then, the handler buffers events, so that notifications follow the answer. `start` must not
  /// block.
  case subscribed(JSON, start: @Sendable () -> Void)
}

/// The client at the other end of a connection.
package protocol ControlPeer: Sendable {
  var id: ConnectionID { get }

  /// Opens a channel for one subscription's notifications, with its own count of pending lines.
  func openSink() -> any NotificationSink
}

/// Sends the notifications of one subscription. Never blocks and can be used from any thread.
package protocol NotificationSink: Sendable {
  /// The number of lines that the client's socket has not accepted yet. The number does not decrease after the
  /// connection is closed, so a sender that waits for room stops sending.
  var pending: Int { get }

  /// Queues lines, or drops them if the connection is closed. The lines are pending until the socket has accepted all
  /// of them.
  func send(_ lines: NotificationLines)
}

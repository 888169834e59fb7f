/// A client's connection, identified by a number that is unique in one run of the daemon.
package struct ConnectionID: Hashable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// Answers the calls of all connections. The server knows the wire format; the handler knows what the calls mean.
package protocol ControlHandler: Sendable {
  /// Carries out a call. Calls of one connection run concurrently, and are cancelled when the connection is lost or the
  /// daemon stops. The result of a notification (`request.id` is `nil`) is dropped, but its `start` is called.
  func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse

  /// Returns the result if it is already available, or `nil` if the call must be handled. Must return at once.
  func resultAtOnce(of request: Request) -> JSON?

  /// Whether the call changes nothing, so that it can be dropped if its client has left.
  func isReadOnly(_ request: Request) -> Bool

  /// Called for everything that is refused without being handled. `request` is `nil` if it cannot be read. Must return
  /// at once.
  func refused(_ request: Request?, _ error: RPCError)

  /// Called once for each connection, before its first call. Must return at once.
  func connectionOpened(_ connection: ConnectionID)

  /// Called once for each connection, as soon as its client has left. Its calls may still be running. Must return at
  /// once.
  func connectionLost(_ connection: ConnectionID)

  /// Called once for each connection, after its last call has returned.
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
  /// `start` is called once, right after the answer was handed to the connection, so that later notifications come
  /// after the answer. It must return at once. The caller keeps events between the snapshot and `start`.
  case subscribed(JSON, start: @Sendable () -> Void)
}

/// The client at the other end, as its handler sees it.
package protocol ControlPeer: Sendable {
  var id: ConnectionID { get }

  /// Opens a channel for notifications with a count of its own: one for each subscription.
  func openSink() -> any NotificationSink
}

/// Sends one subscription's notifications to the client. Never blocks, and may be called from any thread.
package protocol NotificationSink: Sendable {
  /// The number of lines that the client's socket has not taken yet. It no longer falls once the connection is closed,
  /// so that a sender with a limit stops there.
  var pending: Int { get }

  /// Sends the lines after those sent before, or drops them if the connection is closed. They are pending until the
  /// socket has taken them all.
  func send(_ lines: NotificationLines)
}

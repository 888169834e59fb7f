/// One client's connection, by a number that is not used again in one run of the daemon.
package struct ConnectionID: Hashable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) {
    self.number = number
  }
}

/// Answers the calls of all connections. A server that knows the wire calls it; it knows what the calls mean.
package protocol ControlHandler: Sendable {
  /// Calls of one connection run concurrently. Cancelled when the connection is gone or the daemon stops. What it
  /// returns for a notification (`request.id` is nil) is dropped, but its `start` is called.
  func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse

  /// The result where it is there already; nil where the call has to be handled. Must return at once.
  func resultAtOnce(of request: Request) -> JSON?

  /// Whether carrying the call out would change nothing, so that it is dropped where its client has left.
  func isReadOnly(_ request: Request) -> Bool

  /// Told of everything that was refused without being handled. `request`: nil where it was none that could be read. Must
  /// return at once.
  func refused(_ request: Request?, _ error: RPCError)

  /// Told once for each connection, before its first call. Must return at once.
  func connectionOpened(_ connection: ConnectionID)

  /// Told once for each connection, as soon as its client has gone; its calls may still run. Must return at once.
  func connectionLost(_ connection: ConnectionID)

  /// Told once for each connection, after its last call has returned.
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
  /// `start` is called once, right after the answer has been handed to the connection: a notification that is sent
  /// from then on comes after the answer. It must return at once. What happens between the snapshot and `start` is
  /// for the caller to keep until then.
  case subscribed(JSON, start: @Sendable () -> Void)
}

/// The client at the other end, as its handler sees it.
package protocol ControlPeer: Sendable {
  var id: ConnectionID { get }

  /// A way to send notifications, with a count of its own: one for each subscription.
  func openSink() -> any NotificationSink
}

/// Sends one subscription's notifications to the client. Never blocks; safe from any thread.
package protocol NotificationSink: Sendable {
  /// How many lines have been written to the client's socket that it has not taken yet. Never falls again once the connection is
  /// closed, so that a sender which stops at a limit stops.
  var pending: Int { get }

  /// Sends the lines, after those sent before. They are pending until the socket has taken all of them. Dropped where the
  /// connection is closed.
  func send(_ lines: NotificationLines)
}

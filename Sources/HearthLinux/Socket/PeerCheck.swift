import Glibc
import HearthControl
import Logging
import NIOCore

/// Allows connections from only one user. Rejects and logs connections from other users.
final class PeerCheck: Sendable {
  /// The connection belongs to another user and is closed without a response.
  struct ForeignPeer: Error {}

  private let user: uid_t
  private let foreignPeers: ThrottledWarning

  /// `user` is the only user allowed to connect.
  init(user: uid_t, logger: Logger, elapsed: @escaping @Sendable () -> Duration) {
    self.user = user
    foreignPeers = ThrottledWarning(logger, elapsed: elapsed) { count, last in
      "Rejected \(count) more \(count == 1 ? "connection" : "connections") from other users. The last one was from "
        + "\(last)."
    }
  }

  /// Returns the credentials of the process at the other end. Fails if another user owns the process.
  func peer(of channel: any Channel) -> EventLoopFuture<PeerCredentials> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ForeignPeer())
    }
    let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
      level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_PEERCRED))
    return credentials.flatMapThrowing { [self] credentials in
      guard credentials.user == user else {
        foreignPeers.record(
          "Rejected a connection from \(credentials), because only user \(user) can connect.",
          detail: "\(credentials)", on: channel.eventLoop)
        throw ForeignPeer()
      }
      return credentials
    }
  }
}

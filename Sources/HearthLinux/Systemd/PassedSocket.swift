import CSystemd
import Glibc
package import HearthControl

/// The listening socket that the service manager passed (sd_listen_fds(3)).
package enum PassedSocket {
  /// Returns the descriptor, which the caller closes, or nil where none was passed. Removes the variables from the
  /// environment.
  package static func adopt() throws(PassedSocketFailure) -> Int32? {
    let count = sd_listen_fds(1)
    guard count >= 0 else { throw .unreadable(SystemCallFailure("sd_listen_fds", code: -count)) }
    guard count > 0 else { return nil }
    let first: Int32 = 3  // SD_LISTEN_FDS_START
    guard count == 1 else { throw .tooMany(Int(count)) }
    guard sd_is_socket_unix(first, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else { throw .wrongKind }
    return first
  }

  /// Answers all clients that wait on the passed socket with this error, for a daemon that cannot start: as long as one of
  /// them waits, the service manager starts the daemon again and again.
  package static func rejectClients(with error: RPCError) {
    guard let listener = try? adopt() else { return }
    let line = Response(id: .null, outcome: .failure(error)).line
    // A non-blocking flag would be set for the service manager too, which shares the socket.
    var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, 0) > 0 {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      _ = send(client, line, line.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      // Closing a socket with unread input resets the connection, and the client would not get the answer.
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while recv(client, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
      close(client)
    }
  }
}

/// Why a passed descriptor cannot be used, as a sentence for people.
package enum PassedSocketFailure: Error, Hashable, CustomStringConvertible {
  case unreadable(SystemCallFailure)
  case tooMany(Int)
  case wrongKind

  package var description: String {
    switch self {
    case .unreadable(let failure): "The service manager's sockets cannot be taken over (\(failure))."
    case .tooMany(let count): "The service manager passed \(count) sockets; hearthd takes one."
    case .wrongKind: "The socket the service manager passed is no listening Unix stream socket."
    }
  }
}

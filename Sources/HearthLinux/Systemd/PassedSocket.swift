import CSystemd
import Glibc
package import HearthControl

/// The listening socket that the service manager passed (sd_listen_fds(3)).
package enum PassedSocket {
  /// The descriptor, the caller's to close; nil where none was passed. Takes the variables out of the environment.
  package static func take() throws(PassedSocketFailure) -> Int32? {
    let count = sd_listen_fds(1)
    guard count >= 0 else { throw .unreadable(SystemCallFailure("sd_listen_fds", code: -count)) }
    guard count > 0 else { return nil }
    let first: Int32 = 3  // SD_LISTEN_FDS_START
    guard count == 1 else { throw .tooMany(Int(count)) }
    guard sd_is_socket_unix(first, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else { throw .wrongKind }
    return first
  }

  /// Answers everybody who waits on the passed socket with this error, for a daemon that cannot start: while one of them
  /// waits, the service manager starts the daemon again and again.
  package static func turnAway(with error: RPCError) {
    guard let listener = try? take() else { return }
    let line = Response(id: .null, outcome: .failure(error)).line
    // Not by a flag of the socket, which is the service manager's too.
    var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, 0) > 0 {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      _ = send(client, line, line.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      // What a client has sent and nobody has read would break its reading off.
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

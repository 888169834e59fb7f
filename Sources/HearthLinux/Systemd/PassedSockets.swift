import CSystemd
import Glibc

/// The sockets that the service manager passed (sd_listen_fds(3)).
package struct PassedSockets: Sendable {
  /// The passed descriptors. `kind` says what a descriptor is that Hearth does not serve, and is `nil` for all others.
  private let sockets: [(descriptor: Int32, kind: String?)]
  private let failure: SystemCallFailure?

  /// Takes over the passed sockets and removes their variables from the environment. Must be called only once.
  package init() {
    let count = sd_listen_fds(1)
    failure = count < 0 ? SystemCallFailure("sd_listen_fds", code: -count) : nil
    let first: Int32 = 3  // SD_LISTEN_FDS_START
    sockets = (first..<first + max(count, 0)).map { ($0, Self.kind(ofUnusable: $0)) }
  }

  /// Returns the sockets to serve, or an empty array if none were passed. Throws if sockets were passed but all are
  /// unusable, or if `sd_listen_fds` failed.
  package func listeners() throws -> [ListeningSocket] {
    if let failure { throw PassedSocketFailure.unreadable(failure) }
    let usable = sockets.filter { $0.kind == nil }
    guard usable.isEmpty, !sockets.isEmpty else { return usable.map { ListeningSocket(passed: $0.descriptor) } }
    throw PassedSocketFailure.noneUsable(listing)
  }

  /// A human-readable sentence about passed descriptors that Hearth does not serve, or `nil` if it serves all of them.
  package var complaint: String? {
    guard sockets.contains(where: { $0.kind != nil }) else { return nil }
    return "systemd passed \(listing), which Hearth ignores, because it serves only Unix stream sockets. In "
      + "the socket's unit and its drop-ins, use only ListenStream= with a path."
  }

  private var listing: String {
    sockets.compactMap { socket in socket.kind.map { "\($0) (descriptor \(socket.descriptor))" } }.joined(
      separator: ", ")
  }

  /// Sends a line to all clients that wait on the passed sockets. Used by a daemon that cannot start. Also drains all
  /// other input, because unread input makes the service manager start the daemon again and again.
  package func rejectClients(with line: [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    for (descriptor, _) in sockets {
      // The service manager shares the socket, so making it non-blocking would affect the service manager too.
      while Self.isReadable(descriptor) {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else {
          if read(descriptor, &buffer, buffer.count) > 0 { continue } else { break }
        }
        _ = send(client, line, line.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        // Closing a socket with unread input resets the connection, and the client might not receive the line. So read
        // the input first.
        while recv(client, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
        close(client)
      }
    }
  }

  private static func isReadable(_ descriptor: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLIN) != 0
  }

  /// Returns what kind of descriptor this is, or `nil` if it is a listening Unix stream socket.
  private static func kind(ofUnusable descriptor: Int32) -> String? {
    if sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 { return nil }
    if sd_is_fifo(descriptor, nil) > 0 { return "a FIFO" }
    if sd_is_socket(descriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) > 0 { return "a connection" }
    if sd_is_socket(descriptor, AF_UNIX, 0, -1) > 0 { return "a Unix socket of another type" }
    for (type, name) in [(SOCK_STREAM, "a TCP socket"), (SOCK_DGRAM, "a UDP socket")] {
      if sd_is_socket_inet(descriptor, 0, Int32(type.rawValue), -1, 0) > 0 { return name }
    }
    return "something else"
  }
}

/// Why the passed sockets cannot be used, as a human-readable sentence.
package enum PassedSocketFailure: Error, Hashable, CustomStringConvertible {
  case unreadable(SystemCallFailure)
  /// The text describes the passed descriptors.
  case noneUsable(String)

  package var description: String {
    switch self {
    case .unreadable(let failure): "Cannot use the sockets that systemd passed (\(failure))."
    case .noneUsable(let listing):
      "systemd passed no socket that Hearth can serve, only \(listing). Set ListenStream= in the socket's unit to a "
        + "path."
    }
  }
}

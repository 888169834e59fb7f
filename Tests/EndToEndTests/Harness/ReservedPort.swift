import Glibc
import TestSupport

/// A port of loopback that nobody else gets while this exists. It is bound but does not listen. A server that sets
/// SO_REUSEADDR can come and go there, and connections are refused meanwhile (socket(7)).
final class ReservedPort {
  var number: Int { socket.port }
  private let socket: LoopbackSocket

  init() throws { socket = try LoopbackSocket(isReusable: true) }

  deinit { close(socket.descriptor) }
}

import Glibc
package import HearthCore
import HearthThreads
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix

/// Listens on loopback addresses for the browser that the provider redirects (RFC 8252, section 7.3).
package struct LoopbackListener: RedirectListener {
  /// Maximum number of open connections per sign-in. Browsers open a few and leave some of them unused.
  static let mostConnections = 16
  /// How long a client has to send its request.
  static let requestTime: TimeAmount = .seconds(10)

  /// The thread that looks up who opened a connection, one connection at a time.
  static let peers = WorkerThread()

  private let group: any EventLoopGroup
  private let logger: Logger
  var peer = LoopbackPeer()

  package init(group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger) {
    self.group = group
    self.logger = logger
  }

  package func listen(at address: RedirectAddress) async throws(SignInFailure) -> any OpenRedirect {
    let port = address.port ?? 0
    do {
      return try await open(address, port)
    } catch {
      let place = "\(address.host):\(port)"
      throw .failed(
        message: port == 0
          ? "Hearth cannot listen on any port of this machine: \(describe(error))."
          : "Hearth cannot listen on the redirect address \(place): \(describe(error)). If another "
            + "program uses the port, stop it or set another \"redirect_port\" that is registered with the provider.")
    }
  }

  private func open(_ address: RedirectAddress, _ port: Int, attempts: Int = 8) async throws -> LoopbackRedirect {
    let redirect = LoopbackRedirect()
    do {
      // The redirect address comes first. The other one is for browsers that resolve "localhost" to the other IP
      // version.
      let hosts = address.host == "[::1]" ? ["::1", "127.0.0.1"] : ["127.0.0.1", "::1"]
      let first = try await listen(on: hosts[0], port, redirect)
      redirect.port = first.localAddress?.port ?? port
      redirect.add(first)
      do {
        redirect.add(try await listen(on: hosts[1], redirect.port, redirect))
      } catch {
        // A browser that is redirected to "localhost" may try this address first, so no other program may listen on it.
        let isThere = ![EADDRNOTAVAIL, EAFNOSUPPORT].contains((error as? IOError)?.errnoCode ?? 0)
        if address.host == "localhost", isThere { throw error }
        logger.debug("Cannot also listen on \(hosts[1]), port \(redirect.port): \(error)")
      }
      return redirect
    } catch {
      await redirect.close()
      guard port == 0, attempts > 1, (error as? IOError)?.errnoCode == EADDRINUSE else { throw error }
      return try await open(address, port, attempts: attempts - 1)
    }
  }

  private func listen(on host: String, _ port: Int, _ redirect: LoopbackRedirect) async throws -> any Channel {
    let peer = peer
    return try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 16)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard redirect.admit(channel) else { throw ChannelError.ioOnClosedChannel }
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
          try channel.pipeline.syncOperations.addHandler(RedirectHandler(redirect, peer))
        }
      }
      .bind(host: host, port: port).get()
  }

  private func describe(_ error: any Error) -> String {
    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }
}

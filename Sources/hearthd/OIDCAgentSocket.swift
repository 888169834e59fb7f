import HearthLinux
import HearthRuntime
import Logging

/// The socket for oidc-agent's clients, which is there while the configuration wants it.
actor OIDCAgentSocket {
  /// Beside Hearth's own socket.
  static let name = "oidc-agent.sock"

  private let path: String
  private let service: OIDCAgentService
  private let logger: Logger
  private let moved: @Sendable (String?) -> Void
  private var server: OIDCAgentServer?
  private var isStopped = false
  private let started: AsyncStream<OIDCAgentServer>
  private let starting: AsyncStream<OIDCAgentServer>.Continuation

  /// `socket`: the path of Hearth's own. `moved` is told where it is; nil: nowhere any more.
  init(
    beside socket: String, service: OIDCAgentService, logger: Logger, moved: @escaping @Sendable (String?) -> Void
  ) {
    let folder = socket.lastIndex(of: "/").map { socket[...$0] } ?? ""
    path = folder + Self.name
    self.service = service
    self.logger = logger
    self.moved = moved
    (started, starting) = AsyncStream.makeStream()
  }

  /// Makes or removes the socket. Where it cannot be made, the log says why, and everything else goes on.
  func apply(_ isWanted: Bool) async {
    guard isWanted != (server != nil), !isStopped else { return }
    guard isWanted else {
      let old = server
      server = nil
      moved(nil)
      await old?.shutDown()
      return
    }
    do throws(ListeningSocket.Failure) {
      let server = OIDCAgentServer(socket: try ListeningSocket(path: path), handler: service, logger: logger)
      self.server = server
      moved(path)
      starting.yield(server)
      logger.info("Clients of oidc-agent are served on \(path); OIDC_SOCK has to name it.")
    } catch {
      logger.error("There is no socket for oidc-agent's clients: \(error)")
    }
  }

  /// Serves each socket that is made, until `stop`.
  func run() async {
    await withDiscardingTaskGroup { [started, logger] servers in
      for await server in started {
        servers.addTask {
          do { try await server.run() } catch {
            logger.error("Clients of oidc-agent are not served: \(error)")
          }
        }
      }
    }
  }

  /// Takes no more requests; those that have come are still answered.
  func stop() async {
    isStopped = true
    await server?.shutDown()
    starting.finish()
  }
}

package import HearthCore
import HearthThreads
package import Logging
import Synchronization

/// Recreates a socket whose file or folder was removed, so that clients can find the daemon again.
///
/// The service manager does not recreate its sockets' files, and even a restarted daemon receives the same sockets. The
/// daemon therefore creates its own sockets at their paths.
package struct SocketKeeper: Sendable {
  /// Programs that remove a folder remove its contents first. Recreating the socket too early would make them fail.
  private static let settling = Duration.seconds(3)
  private static let retry = Duration.seconds(10)

  private let server: ControlServer
  private let troubles: SocketTroubles
  private let watch: any FileWatch
  private let clock: any Clock
  private let logger: Logger

  package init(
    _ server: ControlServer, troubles: SocketTroubles, watch: any FileWatch, clock: any Clock, logger: Logger
  ) {
    (self.server, self.troubles, self.watch, self.clock, self.logger) = (server, troubles, watch, clock, logger)
  }

  /// Runs until its task is cancelled.
  package func run() async {
    var sockets = Dictionary(
      server.sockets.compactMap { socket in socket.path.map { ($0, socket) } }, uniquingKeysWith: { first, _ in first })
    for await _ in watch.hints(for: Array(sockets.keys)) {
      var areAllInPlace = false
      var wait = Self.settling
      while !areAllInPlace, !Task.isCancelled {
        await clock.sleep(until: clock.now() + wait)
        wait = Self.retry
        areAllInPlace = true
        for (path, socket) in sockets where !Task.isCancelled {
          do {
            guard let fresh = try await putBack(socket, at: path) else { continue }
            sockets[path] = fresh
          } catch {
            troubles.set("Clients cannot find the socket \(path), because it was removed. \(error)", at: path, logger)
            areAllInPlace = false
          }
        }
      }
    }
  }

  /// Returns the new socket, or `nil` if the old one is still in place.
  private func putBack(_ socket: ListeningSocket, at path: String) async throws -> ListeningSocket? {
    let made: Result<ListeningSocket, any Error>? = await WorkerThread.run {
      socket.isInPlace ? nil : Result { try ListeningSocket(path: path) }
    }
    guard let fresh = try made?.get() else { return nil }
    try await server.listen(on: fresh)
    if !socket.isPassed { server.stopListening(on: socket) }
    if server.sockets.contains(where: { $0.isPassed && $0.path == path }) {
      troubles.set(
        "systemd's socket \(path) was removed, so hearthd listens there itself until it exits. To restore systemd's "
          + "socket, run \"systemctl --user restart hearthd.socket\".", at: path, logger)
    } else {
      troubles.clear(path)
      logger.warning("The socket \(path) was removed, so hearthd created it again.")
    }
    return fresh
  }
}

/// The current problems with the sockets. Logs each problem once.
package final class SocketTroubles: Sendable {
  private let byPath = Mutex<[String: String]>([:])

  package init() {}

  /// The current problems, as human-readable sentences.
  package var sentences: [String] { byPath.withLock { $0.sorted { $0.key < $1.key }.map(\.value) } }

  fileprivate func set(_ sentence: String, at path: String, _ logger: Logger) {
    let old = byPath.withLock { $0.updateValue(sentence, forKey: path) }
    if old != sentence { logger.warning("\(sentence)") }
  }

  fileprivate func clear(_ path: String) { byPath.withLock { $0[path] = nil } }
}

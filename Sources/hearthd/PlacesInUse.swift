import HearthControl
import HearthCore
import Synchronization

/// What the daemon says of itself, with the places that it uses now: a reload may change them.
final class PlacesInUse: Sendable {
  private struct State {
    var configuration: String?
    var oidcAgentSocket: String?
  }

  private let state: Mutex<State>
  private let process: Int
  private let startedAt: Timestamp
  private let files: StatePaths
  private let socket: String

  init(process: Int, startedAt: Timestamp, configuration: String?, files: StatePaths, socket: String) {
    self.process = process
    self.startedAt = startedAt
    self.files = files
    self.socket = socket
    state = Mutex(State(configuration: configuration))
  }

  /// The file that was read last; nil where there was none, and the defaults hold.
  func configurationIs(_ path: String?) { state.withLock { $0.configuration = path } }

  /// Nil while there is no such socket.
  func oidcAgentSocketIs(_ path: String?) { state.withLock { $0.oidcAgentSocket = path } }

  var info: DaemonInfo {
    let (configuration, oidcAgentSocket) = state.withLock { ($0.configuration, $0.oidcAgentSocket) }
    return DaemonInfo(
      pid: process, startedAt: startedAt,
      paths: [
        ("configuration", configuration), ("state", files.folder), ("credentials", files.credentials),
        ("outbox", files.outbox), ("socket", socket), ("oidcAgentSocket", oidcAgentSocket),
      ])
  }
}

import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth

/// The paths of the configuration, the state and the socket. Options take precedence over Hearth's environment
/// variables, which take precedence over the XDG base directories.
struct ConfiguredPaths: Hashable, Sendable {
  private let environment: [String: String]
  /// The paths that apply if no option specifies a path.
  private let unnamed: EnvironmentPaths
  /// The configuration file named by an option, as an absolute path.
  let configurationOption: String?
  private let socketOption: String?
  private let stateOption: String?

  /// Resolves relative paths in options and in Hearth's environment variables from `workingDirectory`.
  init(
    configuration: String? = nil, socket: String? = nil, state: String? = nil, environment: [String: String],
    workingDirectory: String
  ) {
    self.environment = environment.filter { !$0.value.isEmpty }
    unnamed = EnvironmentPaths(workingDirectory: workingDirectory) { environment[$0] }
    let absolute = { EnvironmentPaths.absolute($0, from: workingDirectory) }
    configurationOption = configuration.map(absolute)
    socketOption = socket.map(absolute)
    stateOption = state.map(absolute)
  }

  var proxies: ProxyEnvironment { ProxyEnvironment(environment) }

  var browser: DesktopBrowser { DesktopBrowser(environment: environment) }

  /// The certificate authorities that the environment specifies, or the system's.
  var authorities: SystemAuthorities { SystemAuthorities(environment) }

  var roots: PathRoots { PathRoots(home: unnamed.home, credentials: unnamed.credentials, runtime: unnamed.runtime) }

  /// Places that other files must not use, with descriptions. If the path of a place is unknown, the place is left out,
  /// because the daemon then refuses to start anyway.
  var ownPlaces: [OwnPlaces.Place] {
    var places: [OwnPlaces.Place] = []
    if let state = try? state() {
      // List these files too, because a link from outside the folder may lead to one of them.
      places += [state.accounts, state.metrics, state.outbox, state.sinks, state.responses].map {
        OwnPlaces.Place($0, "a file in the state folder")
      }
      places.append(.init(state.folder, "the state folder", isFolder: true, except: state.credentials))
    }
    if let socket = try? socket() { places.append(.init(socket, "the daemon's socket")) }
    return places
  }

  /// The configuration files to try, in order, if no option specifies one.
  var configurationFiles: [String] { unnamed.configurationFiles }

  func state() throws -> StatePaths {
    guard let folder = stateOption ?? unnamed.state else {
      throw ConfigurationError("the path of the state folder is unknown; set $HOME, or pass a folder with --state-dir")
    }
    return StatePaths(folder: folder)
  }

  /// Returns the path at which to create a socket if systemd does not pass one.
  func socket() throws -> String { try SocketPath.resolve(option: socketOption, else: unnamed) }
}

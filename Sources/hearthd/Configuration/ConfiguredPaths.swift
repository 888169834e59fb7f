import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth

/// The paths of the configuration, the state and the socket: from the options, else from the environment, else from the
/// XDG base directories.
struct ConfiguredPaths: Hashable, Sendable {
  private let environment: [String: String]
  /// The paths for which there is no option.
  private let unnamed: EnvironmentPaths
  /// The paths from the options, made absolute.
  let configurationOption: String?
  private let socketOption: String?
  private let stateOption: String?

  /// Relative paths in options and in Hearth's own variables are resolved from `workingDirectory`.
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

  /// The proxies from the environment.
  var proxies: ProxyEnvironment { ProxyEnvironment(environment) }

  /// The person's browser, from the environment.
  var browser: DesktopBrowser { DesktopBrowser(environment: environment) }

  /// The certificate authorities that the environment names instead of the system's.
  var authorities: SystemAuthorities { SystemAuthorities(environment) }

  var roots: PathRoots { PathRoots(home: unnamed.home, credentials: unnamed.credentials, runtime: unnamed.runtime) }

  /// Places that no other file may use, with their descriptions. If one of them is unknown, the daemon does not start.
  var ownPlaces: [OwnPlaces.Place] {
    var places: [OwnPlaces.Place] = []
    if let state = try? state() {
      // A link from another folder may also lead to one of these files.
      places += [state.accounts, state.metrics, state.outbox, state.sinks, state.responses].map {
        OwnPlaces.Place($0, "a file of the state folder")
      }
      places.append(.init(state.folder, "the state folder", isFolder: true, except: state.credentials))
    }
    if let socket = try? socket() { places.append(.init(socket, "the daemon's socket")) }
    return places
  }

  /// The paths where the configuration is looked for, in order, if no option names it.
  var configurationFiles: [String] { unnamed.configurationFiles }

  /// The state folder.
  func state() throws(ConfigurationError) -> StatePaths {
    guard let folder = stateOption ?? unnamed.state else {
      throw ConfigurationError("there is no place for the state: set $HOME, or name a folder with --state-dir")
    }
    return StatePaths(folder: folder)
  }

  /// The path of the socket if systemd passes none.
  func socket() throws(ConfigurationError) -> String {
    do throws(SocketPath.Failure) {
      return try SocketPath.resolve(option: socketOption, else: unnamed)
    } catch {
      throw ConfigurationError(error.description)
    }
  }
}

import HearthControl
import HearthCore
import HearthOAuth

/// The paths of configuration, state and socket: from the options, else from the environment, else from the XDG base
/// directories.
struct ConfiguredPaths: Hashable, Sendable {
  private let environment: [String: String]
  private let workingDirectory: String
  /// An absolute path, like the two below.
  let configurationOption: String?
  private let socketOption: String?
  private let stateOption: String?

  /// Relative paths in options and in Hearth's own variables begin at `workingDirectory`.
  init(
    configuration: String? = nil, socket: String? = nil, state: String? = nil, environment: [String: String],
    workingDirectory: String
  ) {
    self.environment = environment.filter { !$0.value.isEmpty }
    self.workingDirectory = workingDirectory
    let absolute = { (path: String) in Self.absolute(path, from: workingDirectory) }
    configurationOption = configuration.map(absolute)
    socketOption = socket.map(absolute)
    stateOption = state.map(absolute)
  }

  var home: String? { folder("HOME") }

  /// The proxies that the environment names.
  var proxies: ProxyEnvironment { ProxyEnvironment(environment) }

  /// The authorities that the environment names in place of the system's.
  var authorities: SystemAuthorities { SystemAuthorities(environment) }

  var roots: PathRoots { PathRoots(home: home, credentials: folder("CREDENTIALS_DIRECTORY")) }

  /// Where the configuration is looked for when no option names it, in this order.
  var configurationFiles: [String] {
    let base = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    return [own("HEARTH_CONFIG"), base.map { $0 + "/hearth/config.toml" }, "/etc/hearth/config.toml"]
      .compactMap(\.self)
  }

  /// The state folder. systemd's `$STATE_DIRECTORY` is not used, since its path differs between versions.
  func state() throws(ConfigurationError) -> StatePaths {
    let base = folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }
    guard let folder = stateOption ?? own("HEARTH_STATE_DIR") ?? base.map({ $0 + "/hearth" }) else {
      throw ConfigurationError("there is no place for the state: $HOME is not set; name a folder with --state-dir")
    }
    return StatePaths(folder: folder)
  }

  /// Where the socket is made when systemd passes none.
  func socket() throws(ConfigurationError) -> String {
    let named = ["HEARTH_SOCKET": own("HEARTH_SOCKET"), "XDG_RUNTIME_DIR": folder("XDG_RUNTIME_DIR")]
    do throws(SocketPath.Failure) {
      return try SocketPath.resolve(option: socketOption, environment: named.compactMapValues(\.self))
    } catch {
      throw ConfigurationError(error.description)
    }
  }

  private func own(_ variable: String) -> String? {
    environment[variable].map { Self.absolute($0, from: workingDirectory) }
  }

  /// A relative path in such a variable is to be ignored (XDG Base Directory Specification).
  private func folder(_ variable: String) -> String? {
    guard let path = environment[variable], path.hasPrefix("/") else { return nil }
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  private static func absolute(_ path: String, from workingDirectory: String) -> String {
    path.hasPrefix("/") ? path : workingDirectory + "/" + path
  }
}

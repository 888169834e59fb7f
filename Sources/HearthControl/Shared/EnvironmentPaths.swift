import Glibc

/// The default paths of Hearth's files, from Hearth's environment variables or the XDG base directories. Used by the
/// daemon, and by clients that cannot ask the daemon.
package struct EnvironmentPaths: Hashable, Sendable {
  package let home: String?
  package let namedConfiguration: String?
  private let configurationFolder: String?
  /// The state folder, or `nil` if no variable determines it. `$STATE_DIRECTORY` is ignored, because its path depends
  /// on systemd's version.
  package let state: String?
  /// The path of the daemon's socket if systemd does not pass a socket.
  package let socket: String?
  /// The folder in which systemd passes credentials (systemd.exec(5)).
  package let credentials: String?
  package let runtime: String?

  /// Reads the environment through `variable`. Empty variables count as unset. In Hearth's own variables, relative
  /// paths are resolved from `workingDirectory`. In all other variables, relative paths are ignored (XDG Base Directory
  /// Specification).
  package init(workingDirectory: String, _ variable: (String) -> String?) {
    func own(_ name: String) -> String? {
      variable(name).flatMap { $0.isEmpty ? nil : Self.absolute($0, from: workingDirectory) }
    }
    func folder(_ name: String) -> String? {
      guard let path = variable(name), path.hasPrefix("/") else { return nil }
      return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
    let home = folder("HOME")
    configurationFolder = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    let state = folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }
    self.home = home
    namedConfiguration = own("HEARTH_CONFIG")
    self.state = own("HEARTH_STATE_DIR") ?? state.map { $0 + "/hearth" }
    runtime = folder("XDG_RUNTIME_DIR")
    socket = own("HEARTH_SOCKET") ?? runtime.map { $0 + "/hearth/rpc.sock" }
    credentials = folder("CREDENTIALS_DIRECTORY")
  }

  /// The paths to try for the user's own configuration file, in order.
  package var ownConfigurationFiles: [String] {
    [namedConfiguration, configurationFolder.map { $0 + "/hearth/config.toml" }].compactMap(\.self)
  }

  /// The paths to try for the configuration file, in order.
  package var configurationFiles: [String] { ownConfigurationFiles + ["/etc/hearth/config.toml"] }

  package static func absolute(_ path: String, from workingDirectory: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    let rest = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
    return workingDirectory + (workingDirectory == "/" ? "" : "/") + rest
  }
}

extension EnvironmentPaths {
  package static var ofThisProcess: Self {
    Self(workingDirectory: workingDirectory) { name in getenv(name).map { String(cString: $0) } }
  }

  private static var workingDirectory: String {
    guard let folder = getcwd(nil, 0) else { return "." }
    defer { free(folder) }
    return String(cString: folder)
  }

  package static func absolute(_ path: String) -> String { absolute(path, from: workingDirectory) }
}

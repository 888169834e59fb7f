import Glibc

/// The paths of Hearth's files if no option sets them: from Hearth's own variables, otherwise in the folders of the XDG
/// Base Directory Specification. The daemon uses them, and its clients do if the daemon cannot be asked.
package struct EnvironmentPaths: Hashable, Sendable {
  package let home: String?
  /// `$HEARTH_CONFIG`.
  package let namedConfiguration: String?
  /// `$XDG_CONFIG_HOME` or its default.
  private let configurationFolder: String?
  /// The state folder, or `nil` without a home directory. Not `$STATE_DIRECTORY`, because its path depends on systemd's
  /// version.
  package let state: String?
  /// The daemon's socket, if systemd passes none.
  package let socket: String?
  /// The folder in which systemd passes credentials (systemd.exec(5)).
  package let credentials: String?
  /// `$XDG_RUNTIME_DIR`.
  package let runtime: String?

  /// `variable` reads the environment; an empty value counts as unset. Relative paths are resolved from
  /// `workingDirectory` in Hearth's own variables, and ignored in the others (XDG Base Directory Specification).
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

  /// The paths of the user's own configuration file, in the order in which they are tried.
  package var ownConfigurationFiles: [String] {
    [namedConfiguration, configurationFolder.map { $0 + "/hearth/config.toml" }].compactMap(\.self)
  }

  /// The paths of the configuration file, in the order in which they are tried.
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

  /// Resolves a relative path from the working directory.
  package static func absolute(_ path: String) -> String { absolute(path, from: workingDirectory) }
}

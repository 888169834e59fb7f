/// Where Hearth's files are when no option names them: by Hearth's own variables, else in the folders of the XDG Base
/// Directory Specification. The daemon uses them, and its clients look there where no daemon tells.
package struct EnvironmentPaths: Hashable, Sendable {
  package let home: String?
  /// `$HEARTH_CONFIG`.
  package let namedConfiguration: String?
  /// `$XDG_CONFIG_HOME`, or what stands for it.
  private let configurationFolder: String?
  /// The state folder; nil without a home. systemd's `$STATE_DIRECTORY` is not used, since its path differs between
  /// versions.
  package let state: String?
  /// The daemon's socket, where systemd passes none.
  package let socket: String?
  /// The folder in which systemd passes credentials (systemd.exec(5)).
  package let credentials: String?
  /// `$XDG_RUNTIME_DIR`.
  package let runtime: String?

  /// `variable` tells what the environment says; what is empty counts as unset. Relative paths in Hearth's own variables
  /// begin at `workingDirectory`; in the others they are to be ignored (XDG Base Directory Specification).
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

  /// Where the user's own configuration is looked for, in this order.
  package var ownConfigurationFiles: [String] {
    [namedConfiguration, configurationFolder.map { $0 + "/hearth/config.toml" }].compactMap(\.self)
  }

  /// Where the configuration is looked for, in this order.
  package var configurationFiles: [String] { ownConfigurationFiles + ["/etc/hearth/config.toml"] }

  package static func absolute(_ path: String, from workingDirectory: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    let rest = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
    return workingDirectory + (workingDirectory == "/" ? "" : "/") + rest
  }
}

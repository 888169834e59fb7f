import Glibc
import HearthControl

enum ConfigurationPlace {
  /// Returns the first of these paths that is available: `option`, the path that the running daemon uses, the first
  /// existing path that a daemon would read, or the path at which to create the file.
  static func path(
    option: String?, daemon: String?, else paths: EnvironmentPaths
  ) throws(CommandFailure) -> String {
    if let path = option ?? daemon { return EnvironmentPaths.absolute(path) }
    let existing = paths.configurationFiles.first { exists($0) }
    guard let path = existing ?? paths.ownConfigurationFiles.first else {
      throw CommandFailure(
        .failed,
        "The path of the configuration is unknown. Set $HOME, or pass a file with --config.")
    }
    return path
  }

  /// Returns whether the path exists. A broken link counts too, because it must be fixed before another file is used.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}

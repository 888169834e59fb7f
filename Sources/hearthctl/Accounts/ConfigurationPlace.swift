import Glibc
import HearthControl

/// Finds the file that contains the accounts.
enum ConfigurationPlace {
  /// The file that `option` names, else the one that the running daemon uses, else the first existing one that a daemon
  /// would read, else the one to create.
  static func path(
    option: String?, daemon: String?, else paths: EnvironmentPaths
  ) throws(CommandFailure) -> String {
    if let path = option ?? daemon { return EnvironmentPaths.absolute(path) }
    let existing = paths.configurationFiles.first { exists($0) }
    guard let path = existing ?? paths.ownConfigurationFiles.first else {
      throw CommandFailure(.failed, "There is no place for the configuration: set $HOME, or name a file with --config.")
    }
    return path
  }

  /// Also true for a link whose target is missing: it must be fixed before another file takes its place.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}

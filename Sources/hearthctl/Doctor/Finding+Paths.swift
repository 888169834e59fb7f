import Glibc
import HearthControl

extension Finding {
  /// Checks the paths that a daemon would use if it were running.
  static func paths(_ paths: EnvironmentPaths) -> [Finding] {
    let state =
      paths.state.map(state(at:)) ?? Finding(.bad(.failed), "state", "The state folder is unknown. Set HOME.")
    guard let used = paths.configurationFiles.first(where: { status($0) != nil }) else {
      let candidates = paths.configurationFiles.joined(separator: ", ")
      return [Finding(.doubtful, "configuration", "None of these configuration files exists: \(candidates)"), state]
    }
    if let named = paths.namedConfiguration, used != named {
      let message = "\(named) (HEARTH_CONFIG) does not exist, so Hearth uses \(used)"
      return [Finding(.doubtful, "configuration", message), state]
    }
    return [configuration(at: used), state]
  }

  /// Checks a configuration file. `daemon` is the running daemon that uses the file, or `nil` if no daemon is running.
  static func configuration(at path: String, of daemon: DaemonInfo? = nil) -> Finding {
    func bad(_ message: String) -> Finding { Finding(.bad(.failed), "configuration", message) }
    guard let status = status(path) else { return bad("\(path) cannot be found: \(reason())") }
    guard status.st_mode & 0o022 == 0 else {
      return bad("Other users can write to \(path). Run \"chmod go-w \(path)\".")
    }
    guard access(path, R_OK) == 0 else { return bad("\(path) cannot be read: \(reason())") }
    if let sentence = refusal(of: path, by: daemon) {
      return bad(sentence + (daemon == nil ? "" : " (the daemon still uses the previous configuration)"))
    }
    return Finding(.good, "configuration", path)
  }

  /// Returns the error that hearthd finds in a file, if any. Ignores other problems, such as a missing hearthd.
  private static func refusal(of path: String, by daemon: DaemonInfo?) -> String? {
    do {
      let program = try DaemonProgram.find()
      _ = try (daemon.map(program.reading(as:)) ?? program).accounts(of: path)
      return nil
    } catch {
      return (error as? DaemonProgram.Refusal)?.sentence
    }
  }

  static func state(at path: String) -> Finding {
    func bad(_ message: String) -> Finding { Finding(.bad(.failed), "state", message) }
    guard let status = status(path) else { return Finding(.doubtful, "state", "\(path) does not exist yet") }
    guard status.st_mode & S_IFMT == S_IFDIR else { return bad("\(path) is not a folder") }
    guard status.st_uid == getuid() else { return bad("\(path) belongs to another user (\(status.st_uid))") }
    guard status.st_mode & 0o077 == 0 else {
      return bad("Other users can access \(path). Run \"chmod 700 \(path)\".")
    }
    return Finding(.good, "state", path)
  }

  static func socket(_ path: String) -> Finding {
    guard let status = status(path) else { return Finding(.bad(.noDaemon), "socket", "\(path) does not exist") }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return Finding(.bad(.failed), "socket", "\(path) is not a socket")
    }
    guard status.st_mode & 0o077 == 0 else {
      return Finding(.doubtful, "socket", "Other users can access \(path), but the daemon rejects them")
    }
    return Finding(.good, "socket", path)
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }
}

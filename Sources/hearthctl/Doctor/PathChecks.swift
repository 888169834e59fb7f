import Glibc
import HearthControl

/// Checks of the files and folders that Hearth uses.
enum PathChecks {
  /// `variable` gives what is set in the environment.
  static func configuration(_ variable: (String) -> String?) -> [Finding] {
    let named = variable("HEARTH_CONFIG")
    let home = variable("XDG_CONFIG_HOME") ?? variable("HOME").map { $0 + "/.config" }
    let candidates = [named, home.map { $0 + "/hearth/config.toml" }, "/etc/hearth/config.toml"].compactMap { $0 }
    guard let path = candidates.first(where: { status($0) != nil }) else {
      return [Finding(.doubtful, "configuration", "There is none: \(candidates.joined(separator: ", "))")]
    }
    if let named, path != named {
      return [Finding(.doubtful, "configuration", "\(named) (HEARTH_CONFIG) does not exist; \(path) is used")]
    }
    return [configuration(at: path)]
  }

  static func configuration(at path: String) -> Finding {
    guard let status = status(path) else {
      return Finding(.bad(.failed), "configuration", "\(path) cannot be found: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & 0o022 == 0 else {
      return Finding(.bad(.failed), "configuration", "\(path) may be written by others: chmod go-w \(path)")
    }
    guard access(path, R_OK) == 0 else {
      return Finding(.bad(.failed), "configuration", "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    return Finding(.good, "configuration", path)
  }

  static func state(_ variable: (String) -> String?) -> [Finding] {
    let home = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
    guard let path = variable("HEARTH_STATE_DIR") ?? home.map({ $0 + "/hearth" }) else {
      return [Finding(.bad(.failed), "state", "Neither HEARTH_STATE_DIR nor HOME is set")]
    }
    return [state(at: path)]
  }

  static func state(at path: String) -> Finding {
    guard let status = status(path) else {
      return Finding(.doubtful, "state", "\(path) does not exist yet")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return Finding(.bad(.failed), "state", "\(path) is not a folder")
    }
    guard status.st_uid == getuid() else {
      return Finding(.bad(.failed), "state", "\(path) belongs to another user (\(status.st_uid))")
    }
    guard status.st_mode & 0o077 == 0 else {
      return Finding(.bad(.failed), "state", "\(path) is open to others: chmod 700 \(path)")
    }
    return Finding(.good, "state", path)
  }

  static func socket(_ path: String) -> [Finding] {
    guard let status = status(path) else {
      return [Finding(.bad(.noDaemon), "socket", "\(path) does not exist")]
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return [Finding(.bad(.failed), "socket", "\(path) is not a socket")]
    }
    guard status.st_mode & 0o077 == 0 else {
      return [Finding(.doubtful, "socket", "\(path) is open to others (who are turned away)")]
    }
    return [Finding(.good, "socket", path)]
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }
}

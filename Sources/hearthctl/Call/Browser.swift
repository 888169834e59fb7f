import Glibc
import HearthControl

/// A browser that was started to show a page. If it fails, the next program in the list is started.
struct Browser {
  /// The running program and its name.
  private var current: (process: pid_t, name: String)?
  private var others: ArraySlice<[String]>

  /// Whether there is a display, or `$BROWSER` contains a command.
  static var isThere: Bool {
    BrowserCommand.isNamed(variable("BROWSER")) || variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil
  }

  /// Opens a page with `$BROWSER` or xdg-open and does not wait for the program to end. Returns `nil` if no browser is
  /// available or none could be started.
  init?(opening url: String) {
    guard Self.isThere else { return nil }
    others = BrowserCommand.lines(variable("BROWSER"), for: url)[...]
    startNext()
    if current == nil { return nil }
  }

  private mutating func startNext() {
    current = nil
    while current == nil, let line = others.popFirst() {
      current = Self.start(line).map { ($0, line[0]) }
    }
  }

  /// Returns the last program's failure once all programs have failed. Returns `nil` if a program has succeeded or is
  /// still running.
  mutating func failure() -> String? {
    while let (process, name) = current {
      var status: Int32 = 0
      guard waitpid(process, &status, WNOHANG) == process else { return nil }
      guard status != 0 else {
        current = nil
        return nil
      }
      startNext()
      if current == nil {
        let signal = status & 0x7F
        return signal == 0
          ? "\(name) exited with status \(status >> 8 & 0xFF)" : "\(name) was killed by signal \(signal)"
      }
    }
    return nil
  }

  /// Starts a program. Returns its process ID, or `nil` if the program cannot be run.
  private static func start(_ line: [String]) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Hide the browser's own output.
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var arguments = line.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // Use a separate process group, so that Ctrl-C does not end the browser.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var process = pid_t()
    return posix_spawnp(&process, line[0], &actions, &attributes, &arguments, environ) == 0 ? process : nil
  }
}

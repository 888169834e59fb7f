import Glibc
import HearthControl

/// The person's browser.
enum Browser {
  /// A display, or a program that was named to open pages.
  static var isThere: Bool {
    BrowserCommand.isNamed(variable("BROWSER")) || variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil
  }

  /// Has the browser show a page, with the first program of `$BROWSER` that can be run, or with xdg-open; false where there
  /// is none. Nobody waits for it.
  static func open(_ url: String) -> Bool {
    isThere && BrowserCommand.lines(variable("BROWSER"), for: url).contains(where: start)
  }

  private static func start(_ line: [String]) -> Bool {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // What the browser writes is none of the person's business here.
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var arguments = line.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // A process group of its own: Ctrl-C here is not meant for the browser.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var process = pid_t()
    return posix_spawnp(&process, line[0], &actions, &attributes, &arguments, environ) == 0
  }
}

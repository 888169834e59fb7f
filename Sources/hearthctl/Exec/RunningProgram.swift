import Glibc

/// A child program. This process forwards signals to the child. When the child stops or ends, this process does too.
///
/// The child stays in the same process group, so the terminal sends its keys (Ctrl-C, Ctrl-Z) and size changes to the
/// child directly.
struct RunningProgram {
  /// The signals to forward, and SIGCHLD, which reports that the child has stopped or ended.
  private static let signals = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD,
  ]

  let process: pid_t

  /// Starts the program with an additional environment variable and blocks the signals in this process.
  init(_ line: [String], variable name: String, _ value: String) throws {
    // Reset SIGCHLD, because a process that ignores SIGCHLD is not notified when a child ends.
    signal(SIGCHLD, SIG_DFL)
    var (blocked, before) = (Self.blocked, sigset_t())
    sigprocmask(SIG_BLOCK, &blocked, &before)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setsigmask(&attributes, &before)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = line.map { strdup($0) } + [nil]
    setenv(name, value, 1)
    defer {
      for word in words { free(word) }
      unsetenv(name)
    }
    var process = pid_t()
    let code = posix_spawnp(&process, line[0], nil, &attributes, &words, environ)
    guard code == 0 else {
      sigprocmask(SIG_SETMASK, &before, nil)
      // As in shells and env(1).
      throw CommandFailure(
        code == ENOENT ? .programMissing : .programUnusable,
        "\(line[0]) cannot be run: \(String(cString: strerror(code))).")
    }
    self.process = process
  }

  private static var blocked: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    return set
  }

  /// Waits for the program to end. Returns its exit status, or 128 plus the number of the signal that killed it. Closes
  /// all file descriptors except `descriptors`, and redirects standard input, output and error to /dev/null.
  func waitForEnd(keeping descriptors: [Int32] = []) -> Int32 {
    Self.letGo(except: descriptors)
    var signals = Self.blocked
    var information = siginfo_t()
    while true {
      var status: Int32 = 0
      while waitpid(process, &status, WNOHANG | WUNTRACED) == process {
        // See wait(2). The low byte is 0x7F if the program has stopped. Otherwise, the low seven bits contain the
        // number of the signal that killed the program, or 0.
        guard status & 0xFF == 0x7F else { return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F }
        // Stop this process too, so that the shell regains the terminal. Do not stop for SIGSTOP, because it was sent
        // only to the child.
        if status >> 8 & 0xFF != SIGSTOP { raise(SIGSTOP) }
      }
      let number = sigwaitinfo(&signals, &information)
      // Do not forward the terminal's signals, because the child has already received them (sigaction(2), SI_KERNEL).
      if number > 0, number != SIGCHLD, information.si_code <= 0 { kill(process, number) }
    }
  }

  /// Closes all other file descriptors and returns the new numbers of `descriptors`. Redirects standard input, output
  /// and error to /dev/null, so that the caller's pipes are released.
  @discardableResult
  static func letGo(except descriptors: [Int32]) -> [Int32] {
    let first = STDERR_FILENO + 1
    let end = first + Int32(descriptors.count)
    let kept = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, end) }
    for (place, descriptor) in zip(first..., kept) { dup2(descriptor, place) }
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    for standard in STDIN_FILENO...STDERR_FILENO { dup2(null, standard) }
    closefrom(end)
    return Array(first..<end)
  }
}

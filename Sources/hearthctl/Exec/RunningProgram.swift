import Glibc

/// A program that runs for this one: signals go on to it, and whoever stops or ends it, stops or ends this one likewise.
///
/// It stays in this process group, so that the keys of a terminal (Ctrl-C, Ctrl-Z) and its changes of size reach it by
/// themselves.
struct RunningProgram {
  /// What is passed on, and what tells that the program stops or ends.
  private static let signals = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD,
  ]

  let process: pid_t

  /// Starts it with one more variable. From then on the signals are blocked here.
  init(_ line: [String], variable name: String, _ value: String) throws(ProgramFailure) {
    // Who ignores it is not told of any end.
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
      throw ProgramFailure(program: line[0], code: code)
    }
    self.process = process
  }

  private static var blocked: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    return set
  }

  /// Waits for it, and returns its exit status, or 128 and the number of the signal that ended it. Nothing else stays
  /// open here.
  func waitForEnd(keeping descriptors: [Int32] = []) -> Int32 {
    Descriptors.letGo(except: descriptors)
    var signals = Self.blocked
    var information = siginfo_t()
    while true {
      var status: Int32 = 0
      while waitpid(process, &status, WNOHANG | WUNTRACED) == process {
        // wait(2): the low byte is 0x7F while it is stopped, else the signal that ended it.
        guard status & 0xFF == 0x7F else { return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F }
        // The shell gets its terminal back. SIGSTOP is meant for the program alone.
        if status >> 8 & 0xFF != SIGSTOP { raise(SIGSTOP) }
      }
      let number = sigwaitinfo(&signals, &information)
      // What the terminal sends it sends to the program, too (sigaction(2), SI_KERNEL).
      if number > 0, number != SIGCHLD, information.si_code <= 0 { kill(process, number) }
    }
  }
}

/// A program that cannot be run. Ends this one as a shell and env(1) say it: 127 if there is none, else 126.
struct ProgramFailure: Error {
  let program: String
  let code: Int32

  var status: Int32 { code == ENOENT ? 127 : 126 }
  var message: String { "\(program) cannot be run: \(String(cString: strerror(code)))." }
}

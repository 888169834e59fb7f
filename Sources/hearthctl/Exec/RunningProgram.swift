import Glibc

/// A child program that this one stands for: signals are passed on to it, and when it stops or ends, this program does
/// the same.
///
/// It stays in this process group, so that it receives the terminal's keys (Ctrl-C, Ctrl-Z) and size changes directly.
struct RunningProgram {
  /// The signals that are passed on, and SIGCHLD, which reports that the program stopped or ended.
  private static let signals = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD,
  ]

  let process: pid_t

  /// Starts the program with one more variable. From then on the signals are blocked here.
  init(_ line: [String], variable name: String, _ value: String) throws(ProgramFailure) {
    // A process that ignores SIGCHLD is not told when a child ends.
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

  /// Waits for the program, and returns its exit status, or 128 plus the number of the signal that ended it. Closes all
  /// other descriptors here.
  func waitForEnd(keeping descriptors: [Int32] = []) -> Int32 {
    Descriptors.letGo(except: descriptors)
    var signals = Self.blocked
    var information = siginfo_t()
    while true {
      var status: Int32 = 0
      while waitpid(process, &status, WNOHANG | WUNTRACED) == process {
        // wait(2): the low byte is 0x7F if the program is stopped, else the signal that ended it.
        guard status & 0xFF == 0x7F else { return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F }
        // Stop as well, so that the shell gets its terminal back. SIGSTOP was meant only for the program.
        if status >> 8 & 0xFF != SIGSTOP { raise(SIGSTOP) }
      }
      let number = sigwaitinfo(&signals, &information)
      // The terminal sends its signals to the program, too (sigaction(2), SI_KERNEL).
      if number > 0, number != SIGCHLD, information.si_code <= 0 { kill(process, number) }
    }
  }
}

/// The program cannot be run. The exit status is that of a shell and env(1): 127 if it does not exist, else 126.
struct ProgramFailure: Error {
  let program: String
  let code: Int32

  var status: Int32 { code == ENOENT ? 127 : 126 }
  var message: String { "\(program) cannot be run: \(String(cString: strerror(code)))." }
}

import CLinux
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// The process that refreshes a program's token file. It removes the file when the program ends.
struct TokenFileProcess {
  private let process: pid_t

  /// Starts the process. If that fails, ends the program and throws.
  init(_ file: TokenFile, of account: AccountName, at socket: String, for program: RunningProgram) throws {
    let end = hearth_watch_process(program.process)
    process = end < 0 ? -1 : hearth_fork()
    if process == 0 { Self.keep(file, account, socket, until: end) }
    if end >= 0 { close(end) }
    guard process > 0 else {
      let why = reason()
      kill(program.process, SIGKILL)
      // Not `program.waitForEnd`, which closes standard error, where the failure is shown.
      Self.reap(program.process)
      file.remove()
      throw CommandFailure(.failed, "Cannot keep the token file up to date, so the program was killed: \(why).")
    }
  }

  func waitForEnd() { Self.reap(process) }

  private static func reap(_ process: pid_t) {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  private static func keep(_ file: TokenFile, _ account: AccountName, _ socket: String, until end: Int32) -> Never {
    // Detach from the terminal and from the caller's pipes. Signals remain blocked.
    setsid()
    // Keep the folder's lock in this process.
    let end = Waker(watching: Descriptors.letGo(except: [end, file.lock])[0])
    var pauses = ReconnectPauses()
    while !end.isWoken {
      do throws(ControlClient.Failure) {
        var daemon = try ControlClient(path: socket, waker: end)
        var events = EventFollower(Subscribe(topics: [.session], account: account))
        while true {
          _ = try events.next(from: &daemon)
          pauses.reset()
          try refresh(file, account, &daemon)
        }
      } catch {
        // Keep the file while the daemon is unreachable. Remove the token if the account was removed.
        if case .refused(let refusal) = error, refusal.kind == .unknownAccount { file.clear() }
        end.sleep(until: .now + pauses.next())
      }
    }
    file.remove()
    _exit(0)
  }

  /// Writes the current token. If the account is locked or not signed in, removes the old token. After any other
  /// refusal, keeps it.
  private static func refresh(
    _ file: TokenFile, _ account: AccountName, _ daemon: inout ControlClient
  ) throws(ControlClient.Failure) {
    do {
      _ = file.write(try daemon.call(GetToken(account)).value.bearer.token.secret)
    } catch .refused(let error) {
      if [.locked, .unauthenticated, .reauthRequired].contains(error.kind) { file.clear() }
    }
  }
}

enum Descriptors {
  /// Closes all other file descriptors and returns the new numbers of `descriptors`. Redirects standard input, output
  /// and error to /dev/null, so that the caller's pipes are released.
  @discardableResult
  static func letGo(except descriptors: [Int32] = []) -> [Int32] {
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

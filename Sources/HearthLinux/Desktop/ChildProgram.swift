import CLinux
import Glibc
import HearthThreads

/// Runs programs from `$PATH`, with default signal handling and without this process's descriptors.
enum ChildProgram {
  /// Starts a program with standard input, output and error on `/dev/null`, and returns without waiting for it. Returns
  /// false and sets errno if the program cannot be started.
  static func start(_ line: [String], environment: [String: String]) -> Bool {
    guard let process = spawn(line, environment, output: nil) else { return false }
    // Waits for the process to exit, so that it does not stay a zombie.
    WorkerThread(linger: 0).enqueue { _ = status(of: process) }
    return true
  }

  /// Runs a program to completion. Returns its exit status (127 if it cannot be started, -1 if a signal kills it) and
  /// about the first MiB of its standard output.
  static func output(of line: [String], environment: [String: String]) async -> (status: Int32, output: String) {
    await WorkerThread.run { run(line, environment) }
  }

  private static func run(_ line: [String], _ environment: [String: String]) -> (status: Int32, output: String) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return (127, "") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = spawn(line, environment, output: ends[1])
    close(ends[1])
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while process != nil, bytes.count < 1 << 20 {
      let count = read(ends[0], &chunk, chunk.count)
      if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EINTR { break }
    }
    close(ends[0])
    return (process.map(status) ?? 127, String(decoding: bytes, as: UTF8.self))
  }

  /// Waits for the process to exit. Returns its exit status, or -1 if a signal killed it.
  private static func status(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
  }

  /// Looks up a program like a shell does, in the `PATH` that the program will receive.
  private static func path(of program: String, _ environment: [String: String]) -> String {
    guard !program.contains("/") else { return program }
    let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 } ?? program
  }

  private static func spawn(_ line: [String], _ environment: [String: String], output: Int32?) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    _ = hearth_close_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let words = line.map { strdup($0) }
    let variables = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (words + variables).forEach { free($0) } }
    var process = pid_t()
    let code = posix_spawn(
      &process, path(of: line[0], environment), &actions, &attributes, words + [nil], variables + [nil])
    guard code != 0 else { return process }
    errno = code
    return nil
  }
}

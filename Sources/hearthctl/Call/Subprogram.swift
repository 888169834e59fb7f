import Glibc
import HearthCore

/// Another program that is run for its output. Its stderr is discarded.
struct Subprogram {
  let path: String

  /// Returns the program in the first folder that contains an executable with this name, or `nil` if no folder does.
  static func find(_ name: String, in folders: some Sequence<String>) -> Subprogram? {
    folders.lazy.map { $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
      .map(Subprogram.init)
  }

  static var searchPath: [String] { (variable("PATH") ?? "").split(separator: ":").map(String.init) }

  /// Runs the program and returns its output. `input` is limited to 64 KiB, the size of a pipe (pipe(7)). Throws if the
  /// program cannot be run. If the program takes longer than `limit`, kills the program and throws.
  func output(
    _ arguments: [String], input: [UInt8] = [], within limit: Duration
  ) throws -> [UInt8] {
    let inputEnds = try Self.pipe()
    defer { close(inputEnds.reading) }
    let isGiven = WholeFile.write(input, to: inputEnds.writing)
    close(inputEnds.writing)
    guard isGiven else { throw CommandFailure(.failed, "Cannot write to the standard input of \(path).") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let ends = try Self.pipe()
    defer { close(ends.reading) }
    posix_spawn_file_actions_adddup2(&actions, inputEnds.reading, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends.writing, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, path, &actions, nil, &words, environ)
    close(ends.writing)
    guard code == 0 else {
      throw CommandFailure(.failed, "\(path) cannot be run: \(String(cString: strerror(code))).")
    }
    let output = Self.read(ends.reading, until: Timestamp.now + limit)
    if output == nil { kill(process, SIGKILL) }
    waitForEnd(of: process)
    guard let output else { throw CommandFailure(.later, "\(path) did not respond in time. Try again.") }
    return output
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw CommandFailure(.failed, "Cannot create a pipe: \(reason()).") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Reads all output, or returns `nil` if the deadline passes first.
  private static func read(_ descriptor: Int32, until deadline: Timestamp) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let left = deadline.since(.now) / .milliseconds(1)
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = left > 0 ? poll(&event, 1, Int32(left)) : 0
      if ready == 0 { return nil }
      if ready < 0 { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 { bytes += chunk[..<count] }
    }
  }
}

/// Waits for a child process to end. Returns its status as in wait(2).
@discardableResult
func waitForEnd(of process: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0, errno == EINTR {}
  return status
}
